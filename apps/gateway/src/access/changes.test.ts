// What each caller may make and change: only the own things, and seen by nobody else.
import t from 'tap'
import { startAccessSystem } from './accessSystem.ts'
import { type Answer, createClient, dataOf } from './client.ts'
import { assertNoLeaks } from './leaks.ts'
import { lives } from './ownThings.ts'
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
import { methodBody, paymentBody, plant } from './world.ts'

t.test('who may change what', async (t) => {
  const system = await startAccessSystem(t)
  const client = createClient(t, system.baseUrl)
  const { ask } = client
  const world = await plant(system, client)

  t.test("everybody has the use of the own things, and of nobody else's", async (t) => {
    for (const caller of [ada, grace, admin, g1, g1Second, g1Upper, g2])
      for (const kind of ['method', 'address'] as const) await lives(client, t, kind, caller)
  })

  t.test('a guest whose token has expired goes on changing and removing, and nothing else', async (t) => {
    for (const caller of [remembered, rememberedPast])
      for (const kind of ['method', 'address'] as const) await lives(client, t, kind, g1, caller)
  })

  t.test('who may open a payment, and prepare to save a method', async (t) => {
    const isPaidBy = (answer: Answer, guestEmail: string | undefined) => {
      const { standing, owner } = answer.caller
      const isGuest = standing !== 'session'
      const { id, is_guest_payment } = dataOf(answer)
      t.equal(is_guest_payment, isGuest)
      world.payers.set(
        String(id),
        isGuest || owner === null || owner === 'anonymous' ? (guestEmail ?? null) : emailOf[owner],
      )
    }
    const opens = async (expected: number, caller: Caller, guestEmail?: string) => {
      const { owner } = caller
      if (owner === null) throw new Error('a payment of nobody')
      const body = paymentBody(owner, guestEmail)
      const answer = await ask(caller, 'POST', '/payments/intents', { body })
      t.equal(answer.status, expected, `${caller.name} for ${guestEmail}: ${answer.text}`)
      if (answer.status === 201) isPaidBy(answer, guestEmail)
    }
    const nobody: Caller = { ...anonymous, owner: 'anonymous' }
    await opens(201, nobody)
    await opens(201, nobody, canary('anonymous', 'x@example.com'))
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
      const { status } = await ask(caller, 'POST', '/payment-methods/setup-intent', {
        body: { provider_id: 'sandbox' },
      })
      t.equal(status, expected, `${caller.name}: setup intent`)
    }
  })

  t.test('guest_data without a credential opens a payment, and is good for nothing else', async (t) => {
    const guest_data = { email: emailOf.g1, name: canary('anonymous', 'name') }
    const own = (kind: 'method' | 'address') => `/${world.things[kind].find(({ owner }) => owner === 'g1')?.id}`
    for (const [method, path, body] of [
      ['POST', '/addresses', { address_type: 'billing', is_partial: true, guest_email: emailOf.g1 }],
      ['POST', '/payment-methods', { payment_method_token: 'pm_card_visa', provider_id: 'sandbox' }],
      ['POST', '/payment-methods/setup-intent', { provider_id: 'sandbox' }],
      ['PUT', `/addresses${own('address')}`, { alias: canary('anonymous', 'alias') }],
      ['DELETE', `/payment-methods${own('method')}`, {}],
      ['GET', '/payments', {}],
      ['GET', `/payments?guest_email=${emailOf.g1}`, {}],
    ] as const) {
      const { status } = await ask(anonymous, method, path, { body: { ...body, guest_data } })
      t.equal(status, 401, `${method} ${path}`)
    }
  })

  t.test('nothing of another can be referred to', async (t) => {
    const first = (kind: 'method' | 'address', whose: string) =>
      world.things[kind].find(({ owner }) => owner === whose)?.id
    const saves = (caller: Caller, billing_address_id: string | undefined) =>
      ask(caller, 'POST', '/payment-methods', {
        body: methodBody(caller.owner ?? 'anonymous', 'pm_card_amex', { billing_address_id }),
      })
    const pays = (caller: Caller, methodId: string | undefined, guestEmail?: string) =>
      ask(caller, 'POST', '/payments/intents', { body: paymentBody(caller.owner ?? 'anonymous', guestEmail, methodId) })
    const refused = [
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
    for (const { caller, asked, status, json } of refused)
      t.match(
        { status, json },
        { status: 422, json: { error: { code: 'reference_not_found' } } },
        `${caller.name}: ${asked}`,
      )
    const words = refused.map(({ json }) => ({ ...(json.error as object), request_id: '' }))
    t.equal(new Set(words.map((said) => JSON.stringify(said))).size, 2, 'each kind in the same words')
    const own = await pays(g1, first('method', 'g1'), emailOf.g1)
    t.equal(own.status, 201, 'the own one can')
    world.payers.set(String(dataOf(own).id), emailOf.g1)
  })

  t.test('nothing came to where it must not be', (t) => assertNoLeaks(t, system, client, world))
})
