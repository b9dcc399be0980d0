# accuracy.gp - error against the number of moduli, for doc/accuracy.svg. scripts/picture runs it:
#
#   gnuplot -e "data='FILE'; picture='FILE.svg'; size='m = n = 300, k = 2000'" doc/accuracy.gp
#
# Lines of data: family, number of moduli (0: native BLAS), max |e|/(|A||B|). Of several lines with the same family
# and number the first one counts: the command lists the BLAS first, then the fixed widths, then native and rounded.
#
# doc/methods.svg, error against time, is drawn by the command itself: head of tools/accuracy_plot.c.
#
# SPDX-License-Identifier: MIT
if (picture[strlen(picture)-2:] eq "png") {
    set terminal pngcairo size 880,540 font "Arial,11" background "white"
} else {
    set terminal svg size 880,540 font "Helvetica,Arial,sans-serif,14" background "white" name "accuracy"
}
set encoding utf8
set output picture

families = "uni phi2 spike cancel"
texts = "'U(-1,1)' '\U+03C6 = 2: magnitudes vary widely' 'spike: one entry a row is 2^{40} times larger' \
'cancel: |AB| is near 2^{-30} |A||B|'"
array colour[4] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]
array mark[4] = [7, 5, 9, 13]

# native(f): the error of native BLAS; rows(f): the emulated ones
native(f) = real(system(sprintf("awk '$1 == \"%s\" && $2 == 0 { print $3; exit }' %s", f, data)))
rows(f) = sprintf("< awk '$1 == \"%s\" && $2 > 0 && !seen[$2]++' %s", f, data)

set title "DGEMM by s moduli and by native BLAS, against the exact product (".size.")"
set xlabel "number of moduli s"
set ylabel "max |e| / (|A||B|)" offset -0.5,0
set lmargin 12
set logscale y
set format y "10^{%T}"
set xrange [7.5:24.5]
set yrange [1e-28:1e-2]
set xtics 8,2,24 nomirror
set ytics 1e-28,1e4,1e-4 nomirror offset -1.5,0
unset mytics
set border 3 linecolor rgb "#666666"
set grid ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
set key bottom left Left reverse samplen 2.5 spacing 1.3 width -7 opaque fillcolor rgb "white"

# Two native lines lie on each other twice, so words tell them apart.
set label 1 "native BLAS: spike, \U+03C6 = 2" at 7.7, 8*native("spike") left textcolor rgb "#555555"
set label 2 "native BLAS: U(-1,1), cancel" at 7.7, native("cancel")/8 left textcolor rgb "#555555"

plot for [i=1:4] native(word(families, i)) with lines dashtype (10,8) linewidth 1.5 linecolor rgb colour[i] notitle, \
     for [i=1:4] rows(word(families, i)) using 2:3 with linespoints linewidth 2 pointtype mark[i] pointsize 0.8 \
         linecolor rgb colour[i] title word(texts, i)
