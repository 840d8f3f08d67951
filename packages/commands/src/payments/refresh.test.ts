import type { HistoryEntry } from '@paylog/domain/payments/history'
import type { PaymentResource } from '@paylog/domain/payments/resource'
import t from 'tap'
import { ada, admin, guest, guestEmail } from '../testing/commandApiHarness.ts'
import { paymentChangesHarness } from '../testing/paymentChangesHarness.ts'

const { fake, intentOf, pay, expirePage, open, send, change, recordsNothing, lastPosition } =
  await paymentChangesHarness(t)

t.beforeEach(() => {
  fake.failures.clear()
  fake.calls.length = 0
})

t.test('refreshing a paid payment records and returns its new status', async (t) => {
  const id = await open()
  pay(id)
  const refreshed = await change(id, 'refresh', undefined, ada)
  t.match(refreshed, { status: 200, data: { id, status: 'succeeded', amount_received_cents: 2599 } })
  t.equal(refreshed.headers['x-event-position'], String(await lastPosition()))
  t.match(refreshed.headers.etag, /^"\d+"$/)
})

t.test('a guest refreshes a payment, and again within 5 s gets the record', async (t) => {
  const id = await open({ guest_data: { email: guestEmail } }, guest)
  t.match(await change(id, 'refresh', undefined, guest), { status: 200, data: { status: 'pending' } })
  pay(id)
  t.match(await recordsNothing(t, () => change(id, 'refresh')), { status: 200, data: { status: 'pending' } })
  t.equal(fake.calls.filter((call) => call.startsWith('retrieve')).length, 1)
})

t.test('a provider that cannot be asked is 502 or 504', async (t) => {
  for (const [kind, status, code] of [
    ['unavailable', 502, 'provider_unavailable'],
    ['unknown', 504, 'provider_outcome_unknown'],
  ] as const) {
    const id = await open()
    fake.failures.set('retrieve', [{ kind }])
    t.match(await change(id, 'refresh'), { status, error: { code, details: { payment_id: id } } })
  }
})

t.test('a hosted page that has expired is replaced by another intent', async (t) => {
  const id = await open()
  expirePage(id)
  const { data } = await change(id, 'refresh')
  const { id: provider_intent_id } = intentOf(id)
  t.equal(fake.of(id).length, 2)
  t.match(data, {
    status: 'pending',
    provider_intent_id,
    redirect_url: `https://pay.example.com/${provider_intent_id}`,
  })
  t.same(
    fake.calls.map((call) => call.split(' ')[0]),
    ['create', 'retrieve', 'create'],
  )
})

t.test('a page that cannot be replaced because the provider fails is an error with its code', async (t) => {
  for (const [kind, status, code] of [
    ['rejected', 422, 'provider_rejected'],
    ['unavailable', 502, 'provider_unavailable'],
    ['unknown', 504, 'provider_outcome_unknown'],
  ] as const) {
    const id = await open()
    expirePage(id)
    fake.failures.set('create', [{ kind }])
    const failed = await change(id, 'refresh')
    t.match(failed, { status, error: { code, details: { payment_id: id } } })
    t.equal(failed.headers['x-event-position'], String(await lastPosition()))
  }
})

t.test('what lets its holder pay is hidden from administrators without the right charge [10.2-secrets]', async (t) => {
  const id = await open()
  const { provider_intent_id } = (await send<PaymentResource>('GET', `/admin/payments/${id}`, admin)).data
  const secrets = {
    client_secret: `${provider_intent_id}_secret`,
    redirect_url: `https://pay.example.com/${provider_intent_id}`,
  }
  const hidden = { client_secret: null, redirect_url: null }
  for (const [headers, expected] of [
    [admin, secrets],
    [{ 'x-session-id': 'demo-auditor-session' }, hidden],
  ] as const) {
    t.match((await send('GET', `/admin/payments/${id}`, headers)).data, { id, ...expected })
    t.match((await change(id, 'refresh', undefined, headers)).data, { id, ...expected })
    const history = await send<readonly HistoryEntry[]>('GET', `/admin/payments/${id}/history`, headers)
    t.match(history.data.find(({ type }) => type === 'ProviderIntentCreated')?.data, expected)
    const { text } = await send('GET', `/admin/payments/${id}/events`, headers)
    t.notMatch(text, secrets.client_secret, 'they are recorded sealed')
  }
  t.match((await change(id, 'refresh', undefined, ada)).data, secrets, 'the owner')
})
