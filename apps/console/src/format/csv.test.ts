import t from 'tap'
import { csvOf } from './csv.ts'

const column = { header: 'text', value: (row: string | number | null) => row }
const linesOf = (...rows: (string | number | null)[]) => csvOf([column], rows).split('\r\n').slice(1, -1)

t.test('csvOf writes a header and one line for each row', async (t) => {
  const columns = [
    { header: 'id', value: (row: { id: string; n: number }) => row.id },
    { header: 'amount, in EUR', value: (row: { id: string; n: number }) => row.n },
  ]
  t.equal(csvOf(columns, [{ id: 'a', n: -1 }]), 'id,"amount, in EUR"\r\na,-1\r\n')
  t.equal(csvOf(columns, []), 'id,"amount, in EUR"\r\n')
})

t.test('csvOf quotes separators, quotes and line breaks', async (t) => {
  t.same(linesOf('a,b', 'say "x"', 'plain', null), ['"a,b"', '"say ""x"""', 'plain', ''])
  t.equal(csvOf([column], ['a\nb']), 'text\r\n"a\nb"\r\n')
})

t.test('csvOf lets no text become a formula', async (t) => {
  t.same(linesOf('=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '=HYPERLINK("x","y")'), [
    "'=1+1",
    "'+1",
    "'-1",
    "'@SUM(A1)",
    "'\t=1",
    `"'=HYPERLINK(""x"",""y"")"`,
  ])
  t.same(linesOf(-1, 'a=b'), ['-1', 'a=b'], 'numbers and other text stay')
})
