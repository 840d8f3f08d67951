import t from 'tap'
import { csvOf } from './csv.ts'

t.test('csvOf writes a byte order mark, a header and one line for each row', async (t) => {
  const columns = [
    { header: 'id', value: (row: { id: string | null; n: number }) => row.id },
    { header: 'amount, in EUR', value: (row: { id: string | null; n: number }) => row.n },
  ]
  const rows = [
    { id: 'a', n: -1 },
    { id: null, n: 2 },
    { id: '-1', n: 3 },
  ]
  t.equal(csvOf(columns, rows), '\ufeffid,"amount, in EUR"\r\na,-1\r\n,2\r\n\'-1,3\r\n')
  t.equal(csvOf(columns, []), '\ufeffid,"amount, in EUR"\r\n')
})
