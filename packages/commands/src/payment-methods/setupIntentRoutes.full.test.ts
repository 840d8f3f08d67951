// The setup intent route: responses, errors and Idempotency-Key.
import { providerCustomerFold } from '@paylog/domain/providerCustomer'
import { noRights } from '@paylog/domain/rights'
import { providerCustomerStream, setupIntentStream } from '@paylog/event-store/streamName'
import {
  type CreateSetupIntent,
  type Provider,
  ProviderError,
  type ProviderErrorKind,
} from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { matchList } from '@paylog/testing/assertions'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { requestIdentity } from '../request/requestIdentity.ts'
import { ada, adaId, commandApiHarness, freshKey, graceId } from '../testing/commandApiHarness.ts'

const url = '/payment-methods/setup-intent'
const sandbox = createSandbox({ webhookSecrets: ['secret'] })

/** The stream of the setup intent that Ada's request with this key creates. */
function streamOf(key: { readonly 'idempotency-key': string }): string {
  const actor = { user_id: adaId, user_type: 'user', user_email: null, ...noRights }
  const session = { kind: 'session', ...actor } as const
  // The id of a session's request needs no keyed hash.
  return setupIntentStream(requestIdentity(String, key['idempotency-key'], session, `POST ${url}`, {}).id)
}

/** Records a user's customer at a provider. */
async function linkCustomer(customer: {
  readonly provider_id: string
  readonly user_id: string
  readonly provider_customer_id: string
}): Promise<void> {
  await store.handle({
    stream: providerCustomerStream(customer.provider_id, customer.user_id),
    fold: providerCustomerFold,
    decide: () => [{ type: 'ProviderCustomerLinked', data: { ...customer, occurred_at: new Date().toISOString() } }],
    metadata: { correlationId: 'test', causationId: 'test', actor: 'operator' },
  })
}

const card = {
  calls: [] as CreateSetupIntent[],
  made: new Map<string, string>(),
  /** The kind of error that all calls fail with. */
  fails: undefined as ProviderErrorKind | undefined,
  /** Calls wait for this. */
  delay: undefined as Promise<unknown> | undefined,
}
const provider: Provider = {
  ...sandbox,
  id: 'stripe',
  async createSetupIntent(request) {
    card.calls.push(request)
    await card.delay
    if (card.fails) throw new ProviderError(card.fails, 'some_code', 'Message for the caller')
    const id = card.made.get(request.idempotency_key) ?? `seti_${card.made.size + 1}`
    card.made.set(request.idempotency_key, id)
    return { provider_setup_intent_id: id, client_secret: `${id}_secret` }
  },
}
const { app, store, providers, lastPosition } = await commandApiHarness(t, {
  providers: [provider],
  timing: { readRetryTimeoutMs: 4_000 },
})
t.beforeEach(() => {
  Object.assign(card, { calls: [], fails: undefined, delay: undefined })
  card.made.clear()
  providers.clear()
  providers.set(provider.id, provider)
})
/** @param payload a string as it is, anything else as JSON; none if omitted */
const post = (payload?: unknown, headers: Record<string, string> = ada) =>
  app.inject({
    method: 'POST',
    url,
    headers: payload === undefined ? headers : { 'content-type': 'application/json', ...headers },
    ...(payload === undefined ? {} : { payload: typeof payload === 'string' ? payload : JSON.stringify(payload) }),
  })

t.test(
  "a session gets the provider's setup intent without a data envelope, and it is recorded [4.4-values 1-setup-intents]",
  async (t) => {
    const key = freshKey()
    const response = await post({ provider_id: 'stripe' }, { ...ada, ...key })
    t.equal(response.statusCode, 201)
    t.same(response.json(), { success: true, setup_intent_id: 'seti_1', client_secret: 'seti_1_secret' })
    const [created, ...more] = await store.readStream(streamOf(key))
    t.same(more, [])
    t.match(created, {
      type: 'SetupIntentCreated',
      data: {
        provider_id: 'stripe',
        provider_setup_intent_id: 'seti_1',
        client_secret: 'seti_1_secret',
        provider_customer_id: null,
        user_id: adaId,
        request_fingerprint: /^[0-9a-f]{64}$/,
      },
      metadata: { actor: `session:${adaId}`, requestId: response.headers['x-request-id'] },
    })
    t.equal(response.headers['x-event-position'], String(created?.position.commit))
    t.equal(response.headers['idempotent-replayed'], undefined)
    t.ok(created?.type === 'SetupIntentCreated' && card.calls[0]?.idempotency_key === created.data.setup_intent_id)
  },
)

t.test('the setup intent body is optional when one provider is enabled [10.1-provider-default]', async (t) => {
  for (const body of [undefined, '', {}, '{}']) t.equal((await post(body)).statusCode, 201, String(body))
  const emptyBody = { ...ada, 'content-type': 'application/json', 'content-length': '0' }
  t.equal((await app.inject({ method: 'POST', url, headers: emptyBody })).statusCode, 201)
  t.equal(
    new Set(card.calls.map(({ idempotency_key }) => idempotency_key)).size,
    5,
    'each request without a key creates one',
  )
})

t.test(
  "a setup intent uses only the user's own customer at this provider, and creates none [4.4-customer]",
  async (t) => {
    await linkCustomer({ provider_id: 'stripe', user_id: adaId, provider_customer_id: 'cus_ada' })
    await linkCustomer({ provider_id: 'sandbox', user_id: graceId, provider_customer_id: 'cus_elsewhere' })
    const key = freshKey()
    await post({}, { ...ada, ...key })
    await post({}, { 'x-session-id': 'demo-session-2' })
    t.same(
      card.calls.map(({ provider_customer_id }) => provider_customer_id),
      ['cus_ada', null],
    )
    const [created] = await store.readStream(streamOf(key))
    t.match(created?.data, { provider_customer_id: 'cus_ada' })
  },
)

t.test('a setup intent is created without a customer when the lookup fails [4.4-best-effort]', async (t) => {
  const user = '00000000-0000-4000-8000-000000000003'
  await store.client.appendToStream(providerCustomerStream('stripe', user), [
    { id: crypto.randomUUID(), type: 'Unreadable', contentType: 'application/json', data: {}, metadata: {} },
  ])
  const response = await post({}, { 'x-session-id': 'demo-admin-session' })
  t.equal(response.statusCode, 201)
  matchList(t, card.calls, [{ provider_customer_id: null }])
})

t.test('a setup intent needs a provider_id when several providers have them [10.1-provider-default]', async (t) => {
  providers.set('paypal', { ...sandbox, id: 'paypal', createSetupIntent: null })
  t.equal((await post({})).statusCode, 201, 'the only one that has them')
  t.equal(card.calls.length, 1)
  providers.set('other', { ...sandbox, id: 'other' })
  const rejected = async (body: object, status: number, code: string) => {
    const response = await post(body)
    t.equal(response.statusCode, status)
    t.match(response.json(), { success: false, error: { code } })
    return response.json().error
  }
  t.same((await rejected({}, 400, 'invalid_request')).details.enabled, ['stripe', 'other'])
  const { message, details } = await rejected({ provider_id: 'paypal' }, 422, 'provider_not_enabled')
  t.match(message, /paypal does not support setup intents/)
  t.same(details, { enabled: ['stripe', 'other'] })
  await rejected({ provider_id: 'authorize-net' }, 422, 'provider_not_enabled')
  await rejected({ provider_id: 'no\u2028where/../x' }, 422, 'provider_not_enabled')
  t.equal(card.calls.length, 1)
  providers.clear()
  await rejected({}, 400, 'invalid_request')
})

t.test('an invalid setup intent request is 400 without a provider call', async (t) => {
  const invalid = { success: false, error: { code: 'invalid_request' } }
  const before = await lastPosition()
  for (const provider_id of ['', null, 'x'.repeat(256), 1]) {
    const response = await post({ provider_id })
    t.match([response.statusCode, response.json()], [400, invalid], `${provider_id}`)
  }
  t.match((await post('""')).json(), invalid, 'a text')
  t.equal(await lastPosition(), before)
  t.same(card.calls, [])
})

t.test('a failed setup intent is reported with its code, and nothing is recorded', async (t) => {
  const before = await lastPosition()
  const cases: [ProviderErrorKind, number, string][] = [
    ['declined', 402, 'payment_declined'],
    ['rejected', 422, 'provider_rejected'],
    ['unavailable', 502, 'provider_unavailable'],
    ['unknown', 504, 'provider_outcome_unknown'],
  ]
  for (const [kind, status, code] of cases) {
    card.fails = kind
    for (const headers of [ada, { ...ada, ...freshKey() }]) {
      const response = await post({}, headers)
      t.equal(response.statusCode, status, code)
      const { error } = response.json()
      t.equal(error.code, code)
      t.equal(error.details, undefined, 'no payment id')
      t.notMatch(response.body, 'some_code')
    }
  }
  t.equal(await lastPosition(), before)
})

t.test('a setup intent request that is retried after a lost response gets the same setup intent', async (t) => {
  const headers = { ...ada, ...freshKey() }
  card.fails = 'unknown'
  t.equal((await post({}, headers)).statusCode, 504)
  card.fails = undefined
  const response = await post({}, headers)
  t.equal(response.statusCode, 201)
  t.equal(response.headers['idempotent-replayed'], undefined)
  t.equal(card.calls.length, 2)
  t.equal(card.calls[0]?.idempotency_key, card.calls[1]?.idempotency_key)
})

t.test('a missing setup intent body equals an empty one for an Idempotency-Key', async (t) => {
  const headers = { ...ada, ...freshKey() }
  const first = await post(undefined, headers)
  const again = await post({}, headers)
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.same(again.json(), first.json())
})

t.test('a setup intent call rejected because an equal one is running returns the result of the other', async (t) => {
  const headers = { ...ada, ...freshKey() }
  const [quick, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  card.delay = quick.promise
  const first = post({}, headers)
  await waitFor(() => card.calls.length === 1, { what: 'the first call' })
  card.delay = slow.promise
  const second = post({}, headers)
  await waitFor(() => card.calls.length === 2, { what: 'the second call' })
  quick.resolve()
  const firstResponse = await first
  card.fails = 'unknown'
  slow.resolve()
  t.equal((await second).statusCode, 201)
  t.same((await second).json(), firstResponse.json())
  t.equal((await second).headers['idempotent-replayed'], 'true')
})
