# accuracy.gp - error against the number of moduli, for doc/accuracy.svg. scripts/picture runs it:
#
#   gnuplot -e "data='FILE'; picture='FILE.svg'; size='m = n = 300, k = 2000'" doc/accuracy.gp
#
# Lines of data: family, number of moduli (0: native BLAS), max |e|/(|A||B|).
#
# SPDX-License-Identifier: MIT
if (picture[strlen(picture)-2:] eq "png") {
    set terminal pngcairo size 800,520 font "Arial,13" background "white"
} else {
    set terminal svg size 800,520 font "Helvetica,Arial,sans-serif,14" background "white" name "accuracy"
}
set output picture

families = "uni phi2 spike cancel"
texts = "'U(-1,1)' '{/Symbol f} = 2: magnitudes over many decades' 'spike: one entry of each row 2^{40} times larger' \
'cancel: |AB| about 2^{-30} |A||B|'"
array colour[4] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]
array mark[4] = [7, 5, 9, 13]

# native(f): the error of native BLAS; rows(f): the emulated ones
native(f) = real(system(sprintf("awk '$1 == \"%s\" && $2 == 0 { print $3 }' %s", f, data)))
rows(f) = sprintf("< awk '$1 == \"%s\" && $2 > 0' %s", f, data)

set title "Emulated DGEMM against the exact product (".size.")" font ",16" offset 0,0.3
set xlabel "number of moduli s"
set ylabel "max |e| / (|A||B|)"
set logscale y
set format y "10^{%T}"
set xrange [7.5:24.5]
set yrange [1e-28:1e0]
set xtics 8,2,24 nomirror
set ytics 1e-28,1e4,1e0 nomirror
set border 3 linecolor "#444444"
set grid ytics linecolor "#e4e4e4" linewidth 1 linetype 1
set key top right Left reverse samplen 2.5 spacing 1.25 width -4

plot for [i=1:4] native(word(families, i)) with lines dashtype (10,8) linewidth 1.5 linecolor rgb colour[i] notitle, \
     for [i=1:4] rows(word(families, i)) using 2:3 with linespoints linewidth 2 pointtype mark[i] pointsize 0.8 \
         linecolor rgb colour[i] title word(texts, i), \
     NaN with lines dashtype (10,8) linewidth 1.5 linecolor rgb "#444444" title "dashed: native BLAS, same colours"
