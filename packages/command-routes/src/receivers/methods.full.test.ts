// Each provider's notifications about saved methods, with real adapters. Their rules: workflows/payment-methods/applyToMethod.test.ts.
import { randomUUID } from 'node:crypto'
import { type PaymentMethod, paymentMethodFold } from '@paylog/domain/payment-methods/paymentMethod'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t, { type Test } from 'tap'
import { ada } from '../testing/commandApiHarness.ts'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { receiverHarness, type SignedNotification } from '../testing/receiverHarness.ts'

type SentNotification = SignedNotification & { readonly id: string; readonly type: string }
type Ref = Pick<PaymentMethod, 'provider_method_id' | 'provider_customer_id'>

type MethodProvider = {
  readonly env: Readonly<Record<string, string>>
  /** A token from the provider's form. */
  token(): string
  /** The latest notification. */
  latest(): SentNotification
  /** Changes the card to one that ends in 0005. Not every provider notifies it. */
  renew: ((method: Ref) => void) | null
  /** Detaches the method at the provider. */
  detach(method: Ref): void
}

const noNotification = (): never => {
  throw new Error('The provider sent no notification')
}

async function stripeMethods(t: Test): Promise<MethodProvider> {
  const fake = await startFakeStripe(t)
  return {
    env: fake.env,
    token: () => fake.addMethod().id,
    latest(event = fake.events.at(-1) ?? noNotification()) {
      return { ...fake.signed(event), id: event.id, type: event.type }
    },
    renew: ({ provider_method_id: id }) => void fake.changeCard(id, { last4: '0005', exp_year: 2034 }),
    detach: ({ provider_method_id: id }) => void fake.detachMethod(id),
  }
}

async function paypalMethods(t: Test): Promise<MethodProvider> {
  const fake = await startFakePaypal(t)
  return {
    env: fake.env,
    token: () => fake.vault.approveSetup({ card: { brand: 'VISA', last_digits: '4242', expiry: '2030-08' } }),
    latest(event = fake.events.at(-1) ?? noNotification()) {
      return { ...fake.signed(event), id: event.id, type: event.event_type }
    },
    renew: null,
    detach: ({ provider_method_id: id }) => void fake.vault.remove(id),
  }
}

async function authorizeNetMethods(t: Test): Promise<MethodProvider> {
  const fake = await startFakeAuthorizeNet(t)
  let cards = 1000
  return {
    env: fake.env,
    token: () => fake.profiles.tokenise({ card: `card ${cards++}`, expirationDate: '2030-08', cardType: 'Visa' }),
    latest(event = fake.events.at(-1) ?? noNotification()) {
      return { ...fake.signed(event), id: event.notificationId, type: event.eventType }
    },
    renew: ({ provider_customer_id, provider_method_id: id }) =>
      void fake.profiles.changeMethod(provider_customer_id ?? '', id, { card: 'card 0005' }),
    detach: ({ provider_customer_id, provider_method_id: id }) =>
      void fake.profiles.deleteMethod(provider_customer_id ?? '', id),
  }
}

const starts = { stripe: stripeMethods, paypal: paypalMethods, 'authorize-net': authorizeNetMethods }

for (const [name, start] of Object.entries(starts))
  t.test(`the receiver of ${name} applies notifications about saved methods`, async (t) => {
    const { env, token, latest, renew, detach } = await start(t)
    const { app, store, providers, send, inboxOf, typesOf } = await receiverHarness(t, await providerFromEnv(t, env))
    const streamOf = ({ payment_method_id }: PaymentMethod) => paymentMethodStream(payment_method_id)
    const historyOf = async (method: PaymentMethod) => (await typesOf(streamOf(method))).slice(1)
    const remove = ({ payment_method_id: id }: PaymentMethod) =>
      app.inject({ method: 'DELETE', url: `/payment-methods/${id}`, headers: ada })

    async function save() {
      const payload = { payment_method_token: token(), alias: 'Mine' }
      const response = await app.inject({ method: 'POST', url: '/payment-methods', headers: ada, payload })
      const stream = paymentMethodStream(response.json().data?.id ?? '')
      const load = async () => (await store.load(stream, paymentMethodFold)).state
      const method = await load()
      if (method.status !== 'saved') throw new Error(`not saved: ${response.body}`)
      return { method, load, attached: latest() }
    }

    async function receive(t: Test, notified: SentNotification, { payment_method_id }: PaymentMethod): Promise<void> {
      t.same(await send(notified), [200, undefined], notified.type)
      t.match(await inboxOf(notified.id), [
        { type: 'ProviderEventReceived', data: { provider_type: notified.type } },
        { type: 'ProviderEventAppliedToMethod', data: { payment_method_id } },
      ])
    }

    t.test(`${name}: notifications of our own changes have no effect`, async (t) => {
      const { method, attached } = await save()
      await receive(t, attached, method)
      t.same(await historyOf(method), [])
      t.equal((await remove(method)).statusCode, 200)
      await receive(t, latest(), method)
      t.same(await historyOf(method), ['PaymentMethodRemoved'])
    })

    if (renew)
      t.test(`${name}: a renewed card is updated by a late notification too [6.1-methods]`, async (t) => {
        const { method, load, attached } = await save()
        renew(method)
        await receive(t, attached, method)
        t.match(await load(), { status: 'saved', last_four: '0005', alias: 'Mine' })
        await receive(t, latest(), method)
        t.same(await historyOf(method), ['PaymentMethodRefreshed'])
      })

    t.test(
      `${name}: a method detached at the provider is removed by repeated and reordered notifications [10.3-detached]`,
      async (t) => {
        const { method, attached } = await save()
        detach(method)
        const detached = latest()
        t.match(detached.type, /detached$|deleted$/i)
        for (const notified of [detached, attached, detached, attached]) await receive(t, notified, method)
        t.same(await historyOf(method), ['PaymentMethodRemoved'])
        t.match((await store.readStream(streamOf(method))).at(-1)?.data, { by: 'provider' })
        t.equal((await remove(method)).statusCode, 404)
      },
    )

    t.test(`${name}: a notification about another system's method is unmatched`, async (t) => {
      const methods = providers.get(name)?.methods ?? noNotification()
      const user = { user_id: 'user-of-others', email: null, name: null }
      const provider_customer_id = await methods.createCustomer({ idempotency_key: randomUUID(), ...user })
      const attachment = { idempotency_key: randomUUID(), token: token(), user_id: user.user_id, provider_customer_id }
      const method = await methods.attachMethod(attachment)
      const attached = latest()
      detach(method)
      for (const notified of [attached, latest()]) {
        t.same(await send(notified), [200, undefined])
        t.match((await inboxOf(notified.id)).at(-1), { type: 'ProviderEventUnmatched' })
      }
    })
  })
