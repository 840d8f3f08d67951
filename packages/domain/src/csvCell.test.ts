import t from 'tap'
import { csvCell } from './csvCell.ts'

t.test('a cell with a separator, a quote or a line break is quoted', (t) => {
  t.same(['a,b', 'say "x"', 'plain', '', 'a\nb', 'a\rb'].map(csvCell), [
    '"a,b"',
    '"say ""x"""',
    'plain',
    '',
    '"a\nb"',
    '"a\rb"',
  ])
  t.end()
})

t.test('no text becomes a formula', (t) => {
  t.same(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '=HYPERLINK("x","y")'].map(csvCell), [
    "'=1+1",
    "'+1",
    "'-1",
    "'@SUM(A1)",
    "'\t'=1",
    `"'=HYPERLINK(""x"",""y"")"`,
  ])
  t.same(['a=b', 'a, b; c-d'].map(csvCell), ['a=b', '"a, b; c-d"'], 'other text stays')
  t.end()
})

t.test('a formula behind blanks, and one with a full-width sign, is defused', (t) => {
  for (const start of [' ', '\n', '\r', '\t', ' \n ', '\u00a0', '\u200b', '\ufeff'])
    t.match(csvCell(`${start}=1`), /^"?'/, JSON.stringify(start))
  t.same(['＝1', '＋1', '－1', '＠A', '﹦1', '−1'].map(csvCell), ["'＝1", "'＋1", "'－1", "'＠A", "'﹦1", "'−1"])
  t.end()
})

t.test('a formula after a character at which another program splits the row is defused', (t) => {
  t.same(['a;=1', 'a; +1', 'a;"=1"', 'a\t@A', 'a|-1', 'a,=1', 'a;＝1', 'a\n=1'].map(csvCell), [
    "a;'=1",
    "a;' +1",
    `"a;'""=1"""`,
    "a\t'@A",
    "a|'-1",
    `"a,'=1"`,
    "a;'＝1",
    `"a\n'=1"`,
  ])
  t.end()
})

t.test('controls of the text direction are shown', (t) => {
  t.same(['a\u202e=1', '\u200fb', '\u202e=1'].map(csvCell), ['a[U+202E]=1', '[U+200F]b', '[U+202E]=1'])
  t.end()
})
