// Creating tokens for the hosted form.
import t from 'tap'
import { connect } from '../testing/providerHarness.ts'
import { authorizeNetHarness, openHostedPage, sampleIntent, sampleInvoice } from './testing/authorizeNetHarness.ts'

t.test(
  'Authorize.Net: an intent is created with the exact amount and a 20-digit invoice number [10.2-invoice-number]',
  async (t) => {
    const { fake, provider } = await authorizeNetHarness(t)
    const intent = await provider.createIntent(sampleIntent)
    t.equal(intent.provider_intent_id, sampleInvoice)
    t.ok(intent.client_secret)
    t.same(fake.calls, [
      {
        method: 'getHostedPaymentPage',
        request: {
          merchantAuthentication: { name: 'fake-login', transactionKey: 'fake-key' },
          refId: sampleInvoice,
          transactionRequest: {
            transactionType: 'authCaptureTransaction',
            amount: '25.99',
            currencyCode: 'USD',
            order: { invoiceNumber: sampleInvoice, description: 'Two tickets' },
            transactionSettings: { setting: [{ settingName: 'duplicateWindow', settingValue: '28800' }] },
          },
          hostedPaymentSettings: {
            setting: [
              { settingName: 'hostedPaymentButtonOptions', settingValue: '{"text":"Pay"}' },
              { settingName: 'hostedPaymentOrderOptions', settingValue: '{"show":false}' },
            ],
          },
        },
      },
    ])
  },
)

t.test(
  'Authorize.Net: an intent names the saved customer, and is created without one that the gateway lost',
  async (t) => {
    const { fake, provider } = await authorizeNetHarness(t)
    const user = { idempotency_key: 'k', user_id: 'user-1', email: null, name: null }
    const provider_customer_id = (await provider.methods.createCustomer(user)) ?? ''
    const saved = { provider_customer_id, provider_method_id: '1' }
    const first = await openHostedPage(provider, saved)
    const requested = () => fake.calls.map(({ request }) => Object(request.transactionRequest)).at(-1)
    t.same(requested().profile, { customerProfileId: provider_customer_id })
    fake.profiles.deleteCustomer(provider_customer_id)
    t.not((await openHostedPage(provider, saved)).token, first.token)
    t.notOk('profile' in requested())
    fake.failNext('E00007')
    await t.rejects(openHostedPage(provider, saved), { kind: 'unavailable', code: 'E00007' })
    t.equal(requested().profile.customerProfileId, provider_customer_id, 'sent once')
  },
)

t.test('Authorize.Net: return and cancel addresses are links of the form, and the receipt is skipped', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  const cases = [
    [
      null,
      'https://shop.example/cart',
      { showReceipt: true, cancelUrl: 'https://shop.example/cart', cancelUrlText: 'Cancel' },
    ],
    ['https://shop.example/done', null, { showReceipt: false, url: 'https://shop.example/done', urlText: 'Continue' }],
  ] as const
  for (const [return_url, cancel_url, expected] of cases) {
    await openHostedPage(provider, { return_url, cancel_url })
    const { setting } = Object(fake.calls.at(-1)?.request.hostedPaymentSettings)
    const options = setting.find(
      ({ settingName }: { settingName: string }) => settingName === 'hostedPaymentReturnOptions',
    )
    t.same(JSON.parse(options.settingValue), expected)
  }
})

t.test(
  'Authorize.Net: the redirect_url is our page with the token in its fragment, and null without a page',
  async (t) => {
    const { fake, provider } = await authorizeNetHarness(t)
    t.equal((await provider.createIntent(sampleIntent)).redirect_url, null)
    const withPage = await connect(t, { ...fake.env, AUTHORIZE_NET_PAGE_URL: 'https://pay.example.com' })
    const { client_secret, redirect_url } = await withPage.createIntent(sampleIntent)
    t.equal(redirect_url, `https://pay.example.com/pages/authorize-net#${encodeURIComponent(client_secret ?? '')}`)
    t.equal(withPage.hostedFormUrl, 'https://test.authorize.net/payment/payment')
  },
)

t.test('Authorize.Net: the hosted form is the live one for the live API', async (t) => {
  const live = await connect(t, {
    AUTHORIZE_NET_API_LOGIN_ID: 'a',
    AUTHORIZE_NET_TRANSACTION_KEY: 'b',
    AUTHORIZE_NET_SIGNATURE_KEY: 'c',
  })
  t.equal(live.hostedFormUrl, 'https://accept.authorize.net/payment/payment')
})

t.test('Authorize.Net: a long description is cut to the gateway’s limit', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  await openHostedPage(provider, { description: `a\u0007b\n${'é'.repeat(300)}` })
  await openHostedPage(provider, { description: `${'a'.repeat(254)}😀` })
  await openHostedPage(provider, { description: null })
  const orders = fake.calls.map(({ request }) => request.transactionRequest)
  t.match(orders[0], { order: { description: `a b ${'é'.repeat(251)}` } })
  t.match(orders[1], { order: { description: `${'a'.repeat(254)}\ufffd` } })
  t.notMatch(orders[2], { order: { description: String } })
})

t.test('Authorize.Net: a repeated create call returns another token for the same invoice', async (t) => {
  const { provider } = await authorizeNetHarness(t)
  const first = await provider.createIntent(sampleIntent)
  const second = await provider.createIntent(sampleIntent)
  t.equal(second.provider_intent_id, first.provider_intent_id)
  t.not(second.client_secret, first.client_secret)
})

t.test('Authorize.Net: two tokens of one payment charge a card only once', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  const [first, second] = [await openHostedPage(provider), await openHostedPage(provider)]
  t.match(fake.pay(first), { responseCode: 1 })
  fake.advance(10 * 60 * 1000)
  t.match(fake.pay(second), { responseCode: 3, responseReasonCode: 11 }, 'even after the usual two minutes')
  t.equal(fake.ledger.charges.length, 1)
})

t.test('Authorize.Net has no test methods', async (t) => {
  const { provider } = await authorizeNetHarness(t)
  t.notOk(provider.isTestMethod('pm_card_visa'))
})

t.test('Authorize.Net: checkAmount accepts only the gateway’s currencies', async (t) => {
  const { provider } = await authorizeNetHarness(t)
  for (const currency of ['USD', 'CAD', 'GBP', 'EUR', 'AUD', 'NZD']) provider.checkAmount(100, currency)
  for (const currency of ['JPY', 'KWD', 'BRL', 'usd'])
    t.throws(() => provider.checkAmount(100, currency), { code: 'currency_not_supported' }, currency)
})
