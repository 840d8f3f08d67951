import t from 'tap'
import { actionText, detailsText } from './trailText.ts'

t.test('an action and its details are words, without what was left open', async (t) => {
  t.equal(actionText('refund_payment'), 'Refund payment')
  t.equal(detailsText({ amount_cents: 500, since: null, reason: 'duplicate' }), 'amount cents 500, reason duplicate')
  t.equal(detailsText({ ids: ['a', 'b'], all: false }), 'ids ["a","b"], all false')
  t.equal(detailsText({}), '')
})
