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

t.test('the file of a report has the time zone of its days', async (t) => {
  const query = { from: '2026-01-01', to: '2026-02-01', time_zone: 'Asia/Tokyo' }
  const path = csvPath({ operation: 'getReport', query, timeZone: 'Europe/Berlin' })
  t.equal(path, '/admin/reports?from=2026-01-01&to=2026-02-01&time_zone=Asia%2FTokyo')
})
