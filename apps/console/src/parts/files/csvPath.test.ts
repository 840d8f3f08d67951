import t from 'tap'
import { csvPath } from './csvPath.ts'

t.test('a file has the filters and the order of the list that is shown, not its page', async (t) => {
  const query = {
    status: 'failed',
    search: 'a&b',
    orderBy: 'amount_cents',
    currency: undefined,
    cursor: 'x',
    limit: 25,
  }
  const path = csvPath({ operation: 'listAnyPayments', query, timeZone: 'Europe/Berlin' })
  t.equal(path, '/admin/payments?status=failed&search=a%26b&orderBy=amount_cents&time_zone=Europe%2FBerlin')
})
