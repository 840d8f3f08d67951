import t from 'tap'
import { webhookViews } from './views.ts'

t.test('a column that a view of deliveries lacks, or a value of another type, does not compile', (t) => {
  const deliveries = webhookViews.selectFrom('webhooks.log')
  // @ts-expect-error: the key that a claim needs is not read
  deliveries.select('claimed_by')
  // @ts-expect-error: it is a number
  deliveries.where('attempts', '=', 'many')
  // @ts-expect-error: no such view
  webhookViews.selectFrom('webhooks.endpoints')
  t.end()
})
