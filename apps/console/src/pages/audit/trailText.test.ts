import { auditedActions } from '@paylog/domain/auditedActions'
import t from 'tap'
import { actionLabel, actionText, actorName, detailsText, jobOf } from './trailText.ts'

const plain = (text: string) => text.replaceAll(/\s/g, ' ')
const refund = { action: 'refund_payment', details: {}, amount_cents: 2_450, currency: 'JPY' }

t.test('an entry says what was done, with its amount in its currency', async (t) => {
  t.match(plain(actionText(refund)), /^Refund of .*2,450/)
  t.equal(actionText({ ...refund, amount_cents: null }), 'Refund of all that is left')
  t.equal(actionText({ ...refund, currency: null }), 'Refund of 2450 in minor units')
  const proof = { ...refund, action: 'show_payment', details: { proof: true } }
  t.equal(actionText(proof), 'Proof of a payment')
  const job = { ...refund, action: 'cancel_job', details: { kind: 'rebuild', subject: 'disputes' } }
  t.equal(actionText(job), 'Cancellation of a job: rebuild disputes')
  t.equal(actionText({ ...refund, action: 'something_new' }), 'Something new')
})

t.test('every action has a name of its own in the filter', async (t) => {
  const labels = auditedActions.map(actionLabel)
  t.equal(new Set(labels).size, labels.length)
  t.equal(actionLabel('refund_payment'), 'Refund')
  t.equal(actionLabel('redeliver_failed_webhooks'), 'Failed webhooks sent again')
  t.notMatch(labels.join(), /…|_/)
})

t.test('details leave out what the title says', async (t) => {
  const details = { amount_cents: 500, refund_id: 'r', reason: 'requested_by_customer', note: null }
  t.equal(detailsText({ action: 'refund_payment', details }), 'reason requested by customer')
  t.equal(detailsText({ action: 'export_log', details: { category: 'payment', after: null } }), 'category payment')
})

t.test('a job has the id of the entry that started it', async (t) => {
  const entry = { id: 'e-1', action: 'erase_person', outcome: 'done' } as const
  t.equal(jobOf(entry), 'e-1')
  t.equal(jobOf({ ...entry, outcome: 'unknown' }), null)
  t.equal(jobOf({ ...entry, action: 'refund_payment' }), null)
})

t.test('actors without an e-mail address are named by their id, or as of the command line', async (t) => {
  t.same(['session:u-1', 'operator:ann', 'operator'].map(actorName), [
    'user u-1',
    'ann, on the command line',
    'somebody on the command line',
  ])
})
