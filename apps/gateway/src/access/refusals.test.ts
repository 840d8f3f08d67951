// Nobody's data is told by a refusal: of bad requests, and while the identity backend is broken.
import t from 'tap'
import { startAccessSystem } from './accessSystem.ts'
import { type Answer, createClient } from './client.ts'
import type { Fault } from './identityBackend.ts'
import { leaksInAnswers, leaksInLogs } from './leaks.ts'
import { ada, admin, anonymous, canary, g1, g2, remembered } from './people.ts'
import { addressBody, methodBody, paymentBody, plant } from './world.ts'

const long = `${canary('ada', 'long')}${'x'.repeat(300)}`
const secret = canary('ada', 'secret')

/** Bodies that are wrong in every way that quotes something when it is told carelessly. */
const badBodies: readonly (object | string)[] = [
  `{"alias":"${secret}"`,
  `{"alias":"${secret}","alias":"${secret}"}`,
  `{"${secret}":1,"${secret}":2}`,
  `${secret}`,
  `{"alias":"${secret}\u0000"}`,
  `{"alias":"\\u0000${secret}"}`,
  `{"__proto__":{"${secret}":1}}`,
  { [secret]: secret },
  { alias: long },
  { alias: { [secret]: secret } },
  { ...addressBody('ada'), country: secret },
  { ...addressBody('ada'), address_type: secret },
  { ...addressBody('ada'), email: secret },
  { ...addressBody('ada'), name: long },
  { ...methodBody('ada'), payment_method_token: 'cred.provider.token' },
  { ...methodBody('ada'), provider_id: secret },
  { ...methodBody('ada'), billing_address_id: secret },
  { ...methodBody('ada'), billing_details: { email: secret, [secret]: secret } },
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

const faults: readonly Fault[] = [
  'drop',
  'silent',
  { status: 500, body: canary('nobody', 'error') },
  { status: 200, body: canary('nobody', 'text') },
  { status: 200, body: `{"success":true,"user":{"email":${canary('nobody', 'json')}` },
  {
    status: 200,
    body: JSON.stringify({ success: true, user: { id: canary('nobody', 'id'), email: canary('nobody', 'mail') } }),
  },
  { status: 302, body: canary('nobody', 'moved') },
]

t.test('what is refused tells nothing', async (t) => {
  const system = await startAccessSystem(t)
  const client = createClient(t, system.baseUrl)
  const { ask } = client
  const world = await plant(system, client)
  const { things } = world
  const own = things.address.find(({ owner }) => owner === 'ada')?.id ?? ''
  const ownMethod = things.method.find(({ owner }) => owner === 'ada')?.id ?? ''
  t.test('bad requests', async (t) => {
    const asked: Promise<Answer>[] = badBodies.flatMap((body) => {
      const json = { headers: { 'content-type': 'application/json', 'idempotency-key': 'cred.key.bad' }, body }
      return [...writes, `PUT /addresses/${own}`, `PUT /payment-methods/${ownMethod}`].map((route) => {
        const [method = '', path = ''] = route.split(' ')
        return ask(ada, method, path, json)
      })
    })
    for (const { asked: what, status, text } of await Promise.all(asked))
      t.ok(status < 500, `${what}: ${status}: ${text.slice(0, 300)}`)
    for (const path of ['/addresses', '/payments', '/payment-methods', '/webhooks/logs'])
      for (const query of [
        `page=${secret}`,
        `${secret}=1`,
        `limit=${secret}&include=${secret}`,
        `created_at_from=${secret}&search=%00${secret}`,
        `provider=%00${secret}&event_type=${long}&status=${secret}&offset=${secret}`,
      ])
        t.ok((await ask(ada, 'GET', `${path}?${query}`)).status < 500, `${path}?${query}`)
    for (const path of [
      `/addresses/${secret}`,
      `/webhooks/logs/${secret}`,
      `/${secret}`,
      `/addresses/%${secret}`,
      `/payments/${'x'.repeat(300)}${secret}`,
    ])
      t.ok([400, 404].includes((await ask(ada, 'GET', path)).status), path)
    for (const [position, status] of [
      [secret, 400],
      ['9'.repeat(20), 200],
    ] as const)
      t.equal((await ask(ada, 'GET', '/addresses', { headers: { 'x-read-after': position } })).status, status, position)
    await ask(anonymous, 'GET', '/addresses', { headers: { authorization: `Digest cred.no ${secret}` } })
    t.same([...leaksInAnswers(client), ...leaksInLogs(system)], [])
  })

  t.test(
    'an identity backend that cannot tell, or says nonsense: nobody comes in, and nothing is changed',
    async (t) => {
      const before = await system.store.head()
      for (const fault of faults) {
        system.identity.breakWith(fault)
        const asked = [ada, admin, g1, g2, remembered].flatMap((caller) => [
          ask(caller, 'GET', '/addresses'),
          ask(caller, 'GET', `/payments/${things.payment[0]?.id}`),
          ask(caller, 'GET', '/webhooks/logs'),
          ask(caller, 'PUT', `/addresses/${own}`, { body: { alias: 'x' } }),
          ask(caller, 'DELETE', `/payment-methods/${ownMethod}`),
          ask(caller, 'POST', '/payments/intents', { body: paymentBody('ada') }),
        ])
        for (const { caller, asked: what, status, text } of await Promise.all(asked)) {
          t.equal(status, 503, `${caller.name}: ${what}: ${JSON.stringify(fault)}`)
          t.match(JSON.parse(text), { error: { code: 'identity_unavailable' } })
        }
        t.equal((await ask(anonymous, 'GET', '/addresses')).status, 401, 'who presents nothing is not asked about')
      }
      system.identity.breakWith(undefined)
      t.same(await system.store.head(), before, 'nothing is recorded')
      t.equal((await ask(ada, 'GET', '/addresses')).status, 200, 'it heals by itself')
      t.same([...leaksInAnswers(client), ...leaksInLogs(system)], [])
    },
  )
})
