// Refund calls to Stripe that fail, are throttled, or whose response is lost.
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { refund_id, refundRequest, withIntent } from './testing/stripeHarness.ts'

const failure = (kind: string, code?: string) => ({ name: 'ProviderError', kind, ...(code && { code }) })
const message = 'Stripe’s own text'

t.test('Stripe: each error of a refund call has its kind and code', async (t) => {
  const type = 'invalid_request_error'
  const errors = [
    [400, { type, code: 'charge_already_refunded', message }, failure('rejected', 'charge_already_refunded')],
    [400, { type, code: 'amount_too_large', message }, failure('rejected', 'amount_too_large')],
    [400, { type, param: 'currency', message }, failure('rejected', type)],
    [402, { type: 'card_error', code: 'card_declined', message }, failure('declined', 'card_declined')],
    [401, { type, message }, failure('unavailable')],
    [403, { type, code: 'platform_account_required', message }, failure('unavailable')],
    [404, { type, code: 'resource_missing', message }, failure('rejected', 'resource_missing')],
    [409, { type: 'idempotency_error', code: 'idempotency_key_in_use', message }, failure('unknown')],
    [429, { type, code: 'lock_timeout', message }, failure('unavailable', 'lock_timeout')],
    [500, { type: 'api_error', message }, failure('unknown', 'api_error')],
  ] as const
  for (const [status, error, expected] of errors) {
    const { fake, stripe, id } = await withIntent(t, {}, { timeoutMs: 440 })
    fake.pay(id, 'succeeded')
    fake.failNext(...Array.from({ length: 5 }, () => ({ status, error })))
    const refunded = stripe.refund(refundRequest(id))
    await t.rejects(refunded, expected, `${status} ${JSON.stringify(error)}`)
    const problem = await refunded.catch((thrown: Error) => thrown.message)
    t.notMatch(String(problem), message, 'Stripe’s text is not passed on')
    t.equal(fake.refundsOf(id).length, 0)
  }
})

t.test('Stripe: a throttled refund call is repeated with the same key', async (t) => {
  const { fake, stripe, id } = await withIntent(t)
  fake.pay(id, 'succeeded')
  fake.failNext({ status: 429, error: { type: 'invalid_request_error', code: 'rate_limit', message } })
  t.match(await stripe.refund(refundRequest(id)), { status: 'succeeded' })
  t.same(
    fake.calls.slice(1).map(({ key }) => key),
    [refund_id, refund_id],
  )
})

for (const commits of [true, false])
  for (const fault of [
    { kind: 'drop', commits },
    { kind: 'garbage', commits },
    { kind: 'status', status: 502, commits },
  ] as const) {
    const when = commits ? 'after' : 'before'
    t.test(`Stripe: a refund whose response is lost (${fault.kind}) ${when} it was made is made once`, async (t) => {
      const { fake, stripe, id } = await withIntent(t)
      fake.pay(id, 'succeeded')
      fake.faults.next(fault, fault)
      t.match(await stripe.refund(refundRequest(id)), { status: 'succeeded' })
      t.same(
        fake.calls.slice(1).map(({ key }) => key),
        [refund_id, refund_id, refund_id],
      )
      t.same(fake.balanceOf(id), { received: 2599, refunded: 599, disputed: 0 })
      fake.faults.always(fault)
      const other = refundRequest(id, { idempotency_key: 'other', refund_id: refund_id.replace(/f1$/, 'f2') })
      await t.rejects(stripe.refund(other), failure('unknown'), 'unknown after two retries')
      fake.faults.always(undefined)
      const found = await stripe.refund({ ...other, is_repeated: true })
      t.match(found, { status: 'succeeded', refund_id: other.refund_id })
      t.equal(fake.balanceOf(id).refunded, 2 * 599)
    })
  }

t.test('Stripe: a refund call without a response is unknown, and its repeat with the same key finds it', async (t) => {
  const { fake, stripe, id } = await withIntent(t, {}, { timeoutMs: 500 })
  fake.pay(id, 'succeeded')
  fake.faults.next({ kind: 'hang', commits: true })
  await t.rejects(stripe.refund(refundRequest(id)), failure('unknown', 'timeout'))
  t.match(await stripe.refund(refundRequest(id, { is_repeated: true })), { status: 'succeeded' })
  t.equal(fake.refundsOf(id).length, 1)
})

t.test('Stripe: a refund behind a 500 that is stored under its key is found by a repeated call', async (t) => {
  const { fake, stripe, id } = await withIntent(t)
  fake.pay(id, 'succeeded')
  fake.failInside({ commits: true })
  await t.rejects(stripe.refund(refundRequest(id)), failure('unknown', 'api_error'))
  t.match(await stripe.refund(refundRequest(id, { is_repeated: true })), { status: 'succeeded', refund_id })
  t.equal(fake.refundsOf(id).length, 1)
})

t.test('Stripe: a second refund call with the key of a running one waits for its result', async (t) => {
  const { fake, stripe, id } = await withIntent(t)
  fake.pay(id, 'succeeded')
  fake.faults.next({ kind: 'slow', ms: 300 })
  const first = stripe.refund(refundRequest(id))
  await waitFor(() => fake.calls.length === 2, { what: 'the first call' })
  const [one, other] = await Promise.all([first, stripe.refund(refundRequest(id))])
  t.equal(one.provider_refund_id, other.provider_refund_id)
  t.equal(fake.refundsOf(id).length, 1)
})
