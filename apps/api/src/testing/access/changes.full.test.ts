// What each caller may create and change, and the ways to present a credential.
import t from 'tap'
import { createAccessFixture, methodBody, paymentBody } from './accessFixture.ts'
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

const session = 'cred.session.ada'
const token = 'cred.token.g1'
const valid = { ada: session, g1: token }

/** The six ways of the interface, in order of precedence. */
const ways: readonly { readonly name: string; readonly who: 'ada' | 'g1'; at(credential: string): Partial<Caller> }[] =
  [
    { name: 'Bearer', who: 'ada', at: (given) => ({ headers: { authorization: `Bearer ${given}` } }) },
    { name: 'Token', who: 'g1', at: (given) => ({ headers: { authorization: `Token ${given}` } }) },
    { name: 'X-Session-ID', who: 'ada', at: (given) => ({ headers: { 'x-session-id': given } }) },
    { name: 'X-Guest-Token', who: 'g1', at: (given) => ({ headers: { 'x-guest-token': given } }) },
    { name: 'session_id', who: 'ada', at: (given) => ({ query: `session_id=${given}` }) },
    { name: 'token', who: 'g1', at: (given) => ({ query: `token=${given}` }) },
  ]

function presenting(name: string, who: 'ada' | 'g1' | null, ...parts: Partial<Caller>[]): Caller {
  const standing = who === null ? 'unknown' : who === 'ada' ? 'session' : 'guest'
  const headers = Object.assign({}, ...parts.map((part) => part.headers))
  const query = parts.flatMap((part) => part.query ?? []).join('&')
  return { name, standing, owner: who, headers, query }
}

t.test('callers can change only their own resources, with every kind of credential', async (t) => {
  const system = await startAccessHarness(t)
  const client = createClient(t, system.baseUrl)
  const { send } = client
  const fixture = await createAccessFixture(system, client)

  t.test('every owner can create, read, change and delete their own resources only [4-own-changes]', async (t) => {
    for (const caller of [ada, grace, admin, g1, g1Second, g1Upper, g2])
      for (const kind of ['method', 'address'] as const) await checkLifecycle(client, t, kind, caller)
  })

  t.test(
    'an expired guest token with payment history can change and delete, but not read or create [5-history 5-history-service]',
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

  t.test('references to resources of another owner are rejected', async (t) => {
    const first = (kind: 'method' | 'address', whose: string) =>
      fixture.resources[kind].find(({ owner }) => owner === whose)?.id
    const saves = (caller: Caller, billing_address_id: string | undefined) =>
      send(caller, 'POST', '/payment-methods', {
        body: methodBody(caller.owner ?? 'anonymous', 'pm_card_amex', { billing_address_id }),
      })
    const pays = (caller: Caller, methodId: string | undefined, guestEmail?: string) =>
      send(caller, 'POST', '/payments/intents', {
        body: paymentBody(caller.owner ?? 'anonymous', guestEmail, methodId),
      })
    const rejected = [
      await saves(ada, first('address', 'grace')),
      await saves(g2, first('address', 'g1')),
      await saves(grace, first('address', 'g1')),
      await saves(g1, first('address', 'ada')),
      await pays(ada, first('method', 'grace')),
      await pays(grace, first('method', 'g1'), emailOf.g1),
      await pays(admin, first('method', 'ada')),
      await pays(g2, first('method', 'g1'), emailOf.g2),
      await pays(anonymous, first('method', 'g1'), emailOf.g1),
      await pays(anonymous, first('method', 'ada')),
    ]
    for (const { caller, request, status, json } of rejected)
      t.match(
        { status, json },
        { status: 422, json: { error: { code: 'reference_not_found' } } },
        `${caller.name}: ${request}`,
      )
    const words = rejected.map(({ json }) => ({ ...(json.error as object), request_id: '' }))
    t.equal(
      new Set(words.map((body) => JSON.stringify(body))).size,
      2,
      'foreign and missing references get the same message',
    )
    const own = await pays(g1, first('method', 'g1'), emailOf.g1)
    t.equal(own.status, 201, 'the own method can be used')
    fixture.payers.set(String(dataOf(own).id), emailOf.g1)
  })

  t.test('every way to present a credential works for every HTTP method [5-methods]', async (t) => {
    for (const { name, who, at } of ways)
      for (const kind of ['method', 'address'] as const)
        await checkLifecycle(client, t, kind, presenting(name, who, at(valid[who])))
  })

  t.test(
    'of several credentials the first valid one in the order of the interface counts [5-first-valid]',
    async (t) => {
      const listedFor = async (caller: Caller) => {
        const { status, json } = await send(caller, 'GET', '/addresses')
        return status === 200 ? (json.user_context as { user_type: string }).user_type : status
      }
      const kindOf = { ada: 'user', g1: 'guest' }
      for (const [index, first] of ways.entries())
        for (const second of ways.slice(index + 1)) {
          if (first.name === 'Bearer' && second.name === 'Token') continue
          const names = `${first.name}, ${second.name}`
          const both = presenting(names, first.who, first.at(valid[first.who]), second.at(valid[second.who]))
          t.equal(await listedFor(both), kindOf[first.who], `${names}: both valid`)
          const later = presenting(names, second.who, first.at('cred.no'), second.at(valid[second.who]))
          t.equal(await listedFor(later), kindOf[second.who], `${names}: the second valid`)
          const former = presenting(names, first.who, first.at(valid[first.who]), second.at('cred.no'))
          t.equal(await listedFor(former), kindOf[first.who], `${names}: the first valid`)
          const neither = presenting(names, null, first.at('cred.no'), second.at('cred.no'))
          t.equal(await listedFor(neither), 401, `${names}: neither valid`)
        }
    },
  )

  t.test('a remembered token counts only when no other credential is valid', async (t) => {
    const { id: own = '' } = fixture.resources.address.find(({ owner }) => owner === 'g1') ?? {}
    const put = async (caller: Caller) =>
      (await send(caller, 'PUT', `/addresses/${own}`, { body: { alias: 'canary.g1.address.alias' } })).status
    const past = { 'x-guest-token': 'cred.token.remembered' }
    t.equal(
      await put({ ...remembered, query: 'session_id=cred.session.ada', owner: 'ada' }),
      404,
      'a valid session later in the order counts',
    )
    t.equal(
      await put({ ...remembered, query: 'token=cred.token.g2', owner: 'g2' }),
      404,
      'a valid token later in the order counts',
    )
    t.equal(await put({ ...remembered, query: 'session_id=cred.no' }), 200, 'none of the others is valid')
    t.equal(await put({ ...remembered, headers: {}, query: 'token=cred.token.remembered' }), 200, 'in the query')
    t.equal(await put({ ...remembered, headers: { authorization: 'Token cred.token.remembered' } }), 200, 'as Token')
    t.equal(await put({ ...remembered, headers: { authorization: 'Bearer cred.token.remembered' }, owner: null }), 401)
    t.equal(await put({ ...remembered, headers: { 'x-session-id': 'cred.token.remembered' }, owner: null }), 401)
    system.identity.breakWith('drop')
    t.equal(await put({ ...remembered, headers: past, owner: null }), 503, 'the identity backend is down')
    system.identity.breakWith(undefined)
  })

  t.test('the changes leaked nothing to responses, webhooks or logs', (t) => assertNoLeaks(t, system, client, fixture))
})
