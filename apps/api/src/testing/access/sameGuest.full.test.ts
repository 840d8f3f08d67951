// Guests with the same e-mail are one owner, and errors do not leak data.
import type { SandboxFault } from '@paylog/identity/sandboxIdentity'
import t from 'tap'
import { addressBody, createAccessFixture, methodBody, pathOf, paymentBody } from './accessFixture.ts'
import { type ApiResponse, after, createClient, dataOf, listOf, startAccessHarness } from './accessHarness.ts'
import { assertNoLeaks, leaksInLogs, leaksInResponses } from './leaks.ts'
import { ada, admin, anonymous, type Caller, canary, g1, g1Second, g1Upper, g2, remembered } from './people.ts'

const idOf = (response: ApiResponse) => String(dataOf(response).id)
/** Differ in one letter only: k and the Kelvin sign, which Unicode case folding maps to each other. */
const plain = 'canary.g1.kelvin@example.com'
const lookalike = 'canary.g1.\u212aelvin@example.com'

const long = `${canary('ada', 'long')}${'x'.repeat(300)}`
const secret = canary('ada', 'secret')

/** Bodies with an error at every place where a careless message would quote the value. The name of an unknown field is shown. */
const badBodies: readonly (object | string)[] = [
  `{"alias":"${secret}"`,
  `{"alias":"${secret}","alias":"${secret}"}`,
  `{"${secret}":1,"${secret}":2}`,
  `${secret}`,
  `{"alias":"${secret}\u0000"}`,
  `{"alias":"\\u0000${secret}"}`,
  `{"__proto__":{"${secret}":1}}`,
  { unknown: secret },
  { alias: long },
  { alias: { [secret]: secret } },
  { ...addressBody('ada'), country: secret },
  { ...addressBody('ada'), address_type: secret },
  { ...addressBody('ada'), email: secret },
  { ...addressBody('ada'), name: long },
  { ...methodBody('ada'), payment_method_token: 'cred.provider.token' },
  { ...methodBody('ada'), provider_id: secret },
  { ...methodBody('ada'), billing_address_id: secret },
  { ...methodBody('ada'), billing_details: { email: secret, unknown: secret } },
  { ...paymentBody('ada'), currency: secret },
  { ...paymentBody('ada'), metadata: { [long]: long } },
  { ...paymentBody('ada'), payment_method_id: secret },
  { ...paymentBody('ada'), guest_data: { email: secret } },
  { event: secret, provider: secret, test_data: { amount: secret }, payload: { [secret]: secret } },
  { event: 'payment.succeeded', provider: 'sandbox', test_data: { currency: secret }, payload: { amount: secret } },
  { ...addressBody('ada'), alias: `${secret} 4111 1111 1111 1111` },
]
const writes = [
  'POST /payments/intents',
  'POST /payment-methods',
  'POST /addresses',
  'POST /webhooks/test',
  'POST /webhooks/external/simulate',
]

const faults: readonly SandboxFault[] = [
  'drop',
  'silent',
  { status: 500, body: canary('unowned', 'error') },
  { status: 200, body: canary('unowned', 'text') },
  { status: 200, body: `{"success":true,"user":{"email":${canary('unowned', 'json')}` },
  {
    status: 200,
    body: JSON.stringify({ success: true, user: { id: canary('unowned', 'id'), email: canary('unowned', 'mail') } }),
  },
  { status: 302, body: canary('unowned', 'moved') },
]

t.test('guests with the same e-mail share resources, and errors leak nothing', async (t) => {
  const system = await startAccessHarness(t)
  const client = createClient(t, system.baseUrl)
  const { send } = client
  const fixture = await createAccessFixture(system, client)

  t.test('guest tokens with the same e-mail in any case share their resources [5-same-guest]', async (t) => {
    for (const path of Object.values(pathOf)) {
      const seen = await Promise.all([g1, g1Second, g1Upper].map((caller) => send(caller, 'GET', path)))
      const [first, ...others] = seen.map((response) => listOf(response))
      t.ok(first && first.length > 0, path)
      for (const other of others) t.same(other, first, path)
      for (const { id } of first ?? []) {
        const bodies = await Promise.all([g1, g1Second, g1Upper].map((caller) => send(caller, 'GET', `${path}/${id}`)))
        t.equal(new Set(bodies.map(({ text }) => text)).size, 1, `${path}/${id}`)
      }
    }
  })

  t.test('an e-mail that matches only by Unicode case folding is another guest [5-email-case]', async (t) => {
    system.identity.issue('cred.token.plain', plain)
    system.identity.issue('cred.token.lookalike', lookalike)
    const [guest, other] = ['plain', 'lookalike'].map(
      (name): Caller => ({ ...g1, name, headers: { 'x-guest-token': `cred.token.${name}` } }),
    )
    if (!guest || !other) throw new Error('both guests are callers')
    const headers = { 'idempotency-key': 'cred.key.kelvin' }
    const added = await send(guest, 'POST', '/addresses', { body: addressBody('g1'), headers })
    t.equal(added.status, 201)
    const again = await send(other, 'POST', '/addresses', { body: addressBody('g1'), headers })
    t.equal(again.status, 201, again.text)
    t.notOk(again.headers['idempotent-replayed'], 'an Idempotency-Key belongs to one caller')
    t.not(idOf(again), idOf(added))
    const seen = after(again)
    t.equal((await send(other, 'GET', `/addresses/${idOf(added)}`, seen)).status, 404)
    t.same(
      listOf(await send(other, 'GET', '/addresses', seen)).map(({ id }) => id),
      [idOf(again)],
    )
    const body = { total_cents: 1, currency: 'EUR', provider_id: 'sandbox', guest_data: { email: plain } }
    t.equal((await send(other, 'POST', '/payments/intents', { body })).status, 403, 'a payment for the other e-mail')
  })

  t.test('shared guests leaked nothing to responses, webhooks or logs', (t) =>
    assertNoLeaks(t, system, client, fixture),
  )

  const { resources } = fixture
  const own = resources.address.find(({ owner }) => owner === 'ada')?.id ?? ''
  const ownMethod = resources.method.find(({ owner }) => owner === 'ada')?.id ?? ''
  t.test('bad requests leak nothing', async (t) => {
    const requests: Promise<ApiResponse>[] = badBodies.flatMap((body) => {
      const json = { headers: { 'content-type': 'application/json', 'idempotency-key': 'cred.key.bad' }, body }
      return [...writes, `PUT /addresses/${own}`, `PUT /payment-methods/${ownMethod}`].map((route) => {
        const [method = '', path = ''] = route.split(' ')
        return send(ada, method, path, json)
      })
    })
    for (const { request: what, status, text } of await Promise.all(requests))
      t.ok(status < 500, `${what}: ${status}: ${text.slice(0, 300)}`)
    for (const path of ['/addresses', '/payments', '/payment-methods', '/webhooks/logs'])
      for (const query of [
        `page=${secret}`,
        `${secret}=1`,
        `limit=${secret}&include=${secret}`,
        `created_at_from=${secret}&search=%00${secret}`,
        `provider=%00${secret}&event_type=${long}&status=${secret}&offset=${secret}`,
      ])
        t.ok((await send(ada, 'GET', `${path}?${query}`)).status < 500, `${path}?${query}`)
    for (const path of [
      `/addresses/${secret}`,
      `/webhooks/logs/${secret}`,
      `/${secret}`,
      `/addresses/%${secret}`,
      `/payments/${'x'.repeat(300)}${secret}`,
    ])
      t.ok([400, 404].includes((await send(ada, 'GET', path)).status), path)
    for (const [position, status] of [
      [secret, 400],
      ['9'.repeat(20), 200],
    ] as const)
      t.equal(
        (await send(ada, 'GET', '/addresses', { headers: { 'x-read-after': position } })).status,
        status,
        position,
      )
    await send(anonymous, 'GET', '/addresses', { headers: { authorization: `Digest cred.no ${secret}` } })
    t.same([...leaksInResponses(client), ...leaksInLogs(system)], [])
  })

  t.test('with a failing identity backend any credential is 503 and records nothing [5-history-outage]', async (t) => {
    const before = await system.store.head()
    for (const fault of faults) {
      system.identity.breakWith(fault)
      const requests = [ada, admin, g1, g2, remembered].flatMap((caller) => [
        send(caller, 'GET', '/addresses'),
        send(caller, 'GET', `/payments/${resources.payment[0]?.id}`),
        send(caller, 'GET', '/webhooks/logs'),
        send(caller, 'PUT', `/addresses/${own}`, { body: { alias: 'x' } }),
        send(caller, 'DELETE', `/payment-methods/${ownMethod}`),
        send(caller, 'POST', '/payments/intents', { body: paymentBody('ada') }),
      ])
      for (const { caller, request: what, status, text } of await Promise.all(requests)) {
        t.equal(status, 503, `${caller.name}: ${what}: ${JSON.stringify(fault)}`)
        t.match(JSON.parse(text), { error: { code: 'identity_unavailable' } })
      }
      t.equal(
        (await send(anonymous, 'GET', '/addresses')).status,
        401,
        'an anonymous request does not need the identity backend',
      )
    }
    system.identity.breakWith(undefined)
    t.same(await system.store.head(), before, 'nothing is recorded')
    t.equal((await send(ada, 'GET', '/addresses')).status, 200, 'requests work again when the backend does')
    t.same([...leaksInResponses(client), ...leaksInLogs(system)], [])
  })
})
