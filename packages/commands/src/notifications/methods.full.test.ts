// Each provider's notifications about saved methods, with real adapters. Their rules: workflows/payment-methods/applyToMethod.test.ts.
import { randomUUID } from 'node:crypto'
import { type PaymentMethod, paymentMethodFold } from '@paylog/domain/payment-methods/paymentMethod'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import t, { type Test } from 'tap'
import { ada } from '../testing/commandApiHarness.ts'
import { providerFromEnv, type SentNotification, startFakeMethodProviders } from '../testing/fakeProviders.ts'
import { receiverHarness } from '../testing/receiverHarness.ts'

for (const { id: name, env, token, latest, renew, detach, loseCustomer } of await startFakeMethodProviders(t))
  t.test(`the receiver of ${name} applies notifications about saved methods`, async (t) => {
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

    // PayPal has no notification about a deleted customer.
    if (name !== 'paypal')
      t.test(
        `${name}: methods of a customer deleted there are removed, and the next one gets a new customer`,
        async (t) => {
          const [first, second] = [await save(), await save()]
          const { provider_customer_id: customer } = first.method
          t.equal(second.method.provider_customer_id, customer)
          loseCustomer(customer ?? '')
          const deleted = latest()
          t.match(deleted.type, /customer\.deleted$/)
          for (const notified of [deleted, deleted]) t.same(await send(notified), [200, undefined])
          for (const { method } of [first, second]) {
            t.same(await historyOf(method), ['PaymentMethodRemoved'])
            t.match((await store.readStream(streamOf(method))).at(-1)?.data, { by: 'provider' })
            t.equal((await remove(method)).statusCode, 404)
          }
          t.same(
            (await inboxOf(deleted.id)).map(({ type }) => type),
            ['ProviderEventReceived', 'ProviderEventUnmatched'],
          )
          const next = await save()
          t.not(next.method.provider_customer_id, customer)
          t.equal((await save()).method.provider_customer_id, next.method.provider_customer_id, 'linked from then on')
        },
      )

    t.test(`${name}: a notification about another system's method is unmatched`, async (t) => {
      const methods = providers.get(name)?.methods
      if (!methods) throw new Error(`${name} has no methods`)
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
