// What each caller may create and change, and the ways to present a credential.
import t from 'tap'
import { createAccessFixture, paymentBody } from './accessFixture.ts'
import { type ApiResponse, createClient, dataOf, startAccessHarness } from './accessHarness.ts'
import { assertNoLeaks } from './leaks.ts'
import { checkLifecycle } from './lifecycle.ts'
import {
  ada,
  admin,
  anonymous,
  type Caller,
  canary,
  emailOf,
  g1,
  g1Second,
  g1Upper,
  g2,
  grace,
  remembered,
  rememberedPast,
} from './people.ts'

/** The six ways of the interface. */
const ways: readonly (Partial<Caller> & { readonly name: string; readonly as: Caller })[] = [
  { name: 'Bearer', as: ada, headers: { authorization: 'Bearer cred.session.ada' } },
  { name: 'Token', as: g1, headers: { authorization: 'Token cred.token.g1' } },
  { name: 'X-Session-ID', as: ada, headers: { 'x-session-id': 'cred.session.ada' } },
  { name: 'X-Guest-Token', as: g1, headers: { 'x-guest-token': 'cred.token.g1' } },
  { name: 'session_id', as: ada, query: 'session_id=cred.session.ada' },
  { name: 'token', as: g1, query: 'token=cred.token.g1' },
]

t.test('callers can change only their own resources, with every kind of credential', async (t) => {
  const system = await startAccessHarness(t)
  const client = createClient(t, system.baseUrl)
  const { send } = client
  const fixture = await createAccessFixture(system, client)

  t.test('every owner can create, read, change and delete their own resources only [4-own-changes]', async (t) => {
    for (const caller of [ada, grace, admin, g1, g1Second, g1Upper, g2])
      for (const kind of ['method', 'address'] as const) await checkLifecycle(client, t, kind, caller)
    await checkLifecycle(client, t, 'address', g1Upper, g1Second)
  })

  t.test(
    'an expired guest token with payment history can change and delete, but not read or create [5-history 5-history-service 5-history-response]',
    async (t) => {
      for (const caller of [remembered, rememberedPast])
        for (const kind of ['method', 'address'] as const) await checkLifecycle(client, t, kind, g1, caller)
    },
  )

  t.test(
    'payment intents and setup intents are open to the callers of the interface only [4-intent-callers]',
    async (t) => {
      const isPaidBy = (response: ApiResponse, guestEmail: string | undefined) => {
        const { standing, owner } = response.caller
        const isGuest = standing !== 'session'
        const { id, is_guest_payment } = dataOf(response)
        t.equal(is_guest_payment, isGuest)
        fixture.payers.set(
          String(id),
          isGuest || owner === null || owner === 'anonymous' ? (guestEmail ?? null) : emailOf[owner],
        )
      }
      const opens = async (expected: number, caller: Caller, guestEmail?: string) => {
        const { owner } = caller
        if (owner === null) throw new Error('a payment without an owner')
        const body = paymentBody(owner, guestEmail)
        const response = await send(caller, 'POST', '/payments/intents', { body })
        t.equal(response.status, expected, `${caller.name} for ${guestEmail}: ${response.text}`)
        if (response.status === 201) isPaidBy(response, guestEmail)
      }
      const anonymousPayer: Caller = { ...anonymous, owner: 'anonymous' }
      await opens(201, anonymousPayer)
      await opens(201, anonymousPayer, canary('anonymous', 'x@example.com'))
      await opens(201, ada)
      await opens(201, ada, canary('ada', 'friend@example.com'))
      for (const caller of [g1, g1Second, g1Upper]) {
        await opens(403, caller)
        await opens(403, caller, emailOf.g2)
        await opens(201, caller, emailOf.g1)
      }
      await opens(401, remembered, emailOf.g1)
      for (const [caller, expected] of [
        [ada, 201],
        [admin, 201],
        [g1, 403],
        [remembered, 401],
        [anonymous, 401],
      ] as const) {
        const { status } = await send(caller, 'POST', '/payment-methods/setup-intent', {
          body: { provider_id: 'sandbox' },
        })
        t.equal(status, expected, `${caller.name}: setup intent`)
      }
    },
  )

  t.test('guest_data without a credential creates a payment and gives no other access [5-guest-data]', async (t) => {
    const guest_data = { email: emailOf.g1, name: canary('anonymous', 'name') }
    const own = (kind: 'method' | 'address') => `/${fixture.resources[kind].find(({ owner }) => owner === 'g1')?.id}`
    for (const [method, path, body] of [
      ['POST', '/addresses', { address_type: 'billing', is_partial: true, guest_email: emailOf.g1 }],
      ['POST', '/payment-methods', { payment_method_token: 'pm_card_visa', provider_id: 'sandbox' }],
      ['POST', '/payment-methods/setup-intent', { provider_id: 'sandbox' }],
      ['PUT', `/addresses${own('address')}`, { alias: canary('anonymous', 'alias') }],
      ['DELETE', `/payment-methods${own('method')}`, {}],
      ['GET', '/payments', {}],
      ['GET', `/payments?guest_email=${emailOf.g1}`, {}],
    ] as const) {
      const { status } = await send(anonymous, method, path, { body: { ...body, guest_data } })
      t.equal(status, 401, `${method} ${path}`)
    }
  })

  t.test('every way to present a credential works for every HTTP method [5-methods]', async (t) => {
    for (const { as, ...way } of ways)
      for (const kind of ['method', 'address'] as const)
        await checkLifecycle(client, t, kind, { ...as, headers: {}, query: '', ...way })
  })

  t.test('the changes leaked nothing to responses, webhooks or logs', (t) => assertNoLeaks(t, system, client, fixture))
})
