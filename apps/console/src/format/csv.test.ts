import t from 'tap'
import { csvOf } from './csv.ts'

const column = { header: 'text', value: (row: string | number | null) => row }
const linesOf = (...rows: (string | number | null)[]) => csvOf([column], rows).split('\r\n').slice(1, -1)

t.test('csvOf writes a byte order mark, a header and one line for each row', async (t) => {
  const columns = [
    { header: 'id', value: (row: { id: string; n: number }) => row.id },
    { header: 'amount, in EUR', value: (row: { id: string; n: number }) => row.n },
  ]
  t.equal(csvOf(columns, [{ id: 'a', n: -1 }]), '\ufeffid,"amount, in EUR"\r\na,-1\r\n')
  t.equal(csvOf(columns, []), '\ufeffid,"amount, in EUR"\r\n')
})

t.test('csvOf quotes separators, quotes and line breaks', async (t) => {
  t.same(linesOf('a,b', 'say "x"', 'plain', null), ['"a,b"', '"say ""x"""', 'plain', ''])
  t.equal(csvOf([column], ['a\nb']), '\ufefftext\r\n"a\nb"\r\n')
})

t.test('csvOf lets no text become a formula', async (t) => {
  t.same(linesOf('=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '=HYPERLINK("x","y")'), [
    "'=1+1",
    "'+1",
    "'-1",
    "'@SUM(A1)",
    "'\t'=1",
    `"'=HYPERLINK(""x"",""y"")"`,
  ])
  t.same(linesOf(-1, 'a=b', 'a, b; c-d'), ['-1', 'a=b', '"a, b; c-d"'], 'numbers and other text stay')
})

t.test('csvOf defuses a formula behind blanks, and one with a full-width sign', async (t) => {
  for (const start of [' ', '\n', '\r', '\t', ' \n ', '\u00a0', '\u200b', '\ufeff'])
    t.match(csvOf([column], [`${start}=1`]), /\r\n"?'/, JSON.stringify(start))
  t.same(linesOf('＝1', '＋1', '－1', '＠A', '﹦1', '−1'), ["'＝1", "'＋1", "'－1", "'＠A", "'﹦1", "'−1"])
})

t.test('csvOf defuses a formula after a character at which another program splits the row', async (t) => {
  t.same(linesOf('a;=1', 'a; +1', 'a;"=1"', 'a\t@A', 'a|-1', 'a,=1', 'a;＝1'), [
    "a;'=1",
    "a;' +1",
    `"a;'""=1"""`,
    "a\t'@A",
    "a|'-1",
    `"a,'=1"`,
    "a;'＝1",
  ])
  t.equal(csvOf([column], ['a\n=1']), `\ufefftext\r\n"a\n'=1"\r\n`, 'also after a line feed')
})

t.test('csvOf shows controls of the text direction', async (t) => {
  t.same(linesOf('a\u202e=1', '\u200fb', '\u202e=1'), ['a[U+202E]=1', '[U+200F]b', '[U+202E]=1'])
})
