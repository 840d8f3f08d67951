import {
  PaymentMethodResource,
  paymentMethodFold,
  removePaymentMethod,
} from '@paylog/domain/payment-methods/paymentMethod'
import { addMethodTo, ofGuest, ofUser, setDefaultIn } from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { ada, asAda, asGuest, queryApiHarness } from '../testing/queryApiHarness.ts'

const ofAda = ofUser(ada.payer.id)

t.test(
  'GET /payment-methods/{id} returns every field except the provider’s id, and the revision as ETag [2.7-no-token]',
  async (t) => {
    const { log, project, get } = await queryApiHarness(t)
    const address = { line1: 'a', line2: null, city: 'b', state: null, postal_code: 'c', country: 'DE' }
    const given = {
      wallet_type: 'apple_pay',
      card_brand: 'visa',
      alias: 'Work',
      type: 'card',
      organization_id: 'org',
      billing_address_id: '00000000-0000-4000-8000-00000000000a',
      billing_details: { name: 'Ada', email: 'ada@example.com', phone: null, address },
    }
    const id = addMethodTo(log, {
      ...ofAda,
      ...given,
      provider_customer_id: 'cus_1',
      provider_method_id: 'pm_secret',
    })
    setDefaultIn(log, { chosen_id: id })
    await project()
    const response = await get(`/payment-methods/${id}`)
    t.equal(response.statusCode, 200)
    t.equal(response.headers.etag, '"0"')
    t.same(response.json(), {
      success: true,
      data: {
        id,
        payment_type: 'card',
        last_four: '4242',
        expiry_month: '04',
        expiry_year: '2031',
        ...given,
        provider_id: 'sandbox',
        customer_id: 'cus_1',
        is_default: true,
        guest_email: null,
        created_at: '2026-03-01T10:00:00.000Z',
        updated_at: '2026-03-01T10:00:00.000Z',
      },
    })
    t.same(Object.keys(response.json().data).sort(), Object.keys(PaymentMethodResource.properties).sort())
    const listed = await get('/payment-methods')
    t.same(listed.json().data, [response.json().data], 'the list contains the same')
    t.notMatch(listed.body, /pm_secret|user:/)
  },
)

t.test(
  'GET /payment-methods returns page and caller, and accepts page, limit and guest_email [4-list-methods]',
  async (t) => {
    const { log, project, get } = await queryApiHarness(t)
    const at = (hour: number) => ({ ...ofAda, occurred_at: `2026-03-01T1${hour}:00:00.000Z` })
    const ids = [0, 1, 2].map((hour) =>
      addMethodTo(log, { ...at(hour), ...(hour === 1 && { guest_email: 'C@example.com' }) }),
    )
    const gone = addMethodTo(log, at(3))
    log.record(paymentMethodFold, gone, (state) =>
      removePaymentMethod({ occurred_at: at(4).occurred_at, by: 'owner' }, state),
    )
    await project()
    const response = (await get('/payment-methods')).json()
    t.same(response.meta, { page: 1, limit: 20, total: 3, hasMore: false })
    t.same(response.user_context, {
      authenticated: true,
      user_id: ada.payer.id,
      user_type: 'user',
      user_email: 'ada@example.com',
      search_method: 'user_id',
    })
    const idsOf = async (query: string) =>
      (await get(`/payment-methods?${query}`)).json().data.map(({ id }: { id: string }) => id)
    t.same(await idsOf(''), ids.toReversed())
    t.same(await idsOf('limit=2'), ids.slice(1).toReversed())
    t.same(await idsOf('limit=2&page=2'), ids.slice(0, 1))
    t.same(await idsOf('guest_email=c%40EXAMPLE.com'), [ids[1]])
    t.same((await get('/payment-methods?limit=2')).json().meta, { page: 1, limit: 2, total: 3, hasMore: true })
    t.equal((await get(`/payment-methods/${gone}`)).statusCode, 404, 'a removed method is 404')
  },
)

t.test('a guest sees the payment methods of its e-mail [2.3-guest]', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const id = addMethodTo(log, ofGuest('GUEST@example.com'))
  addMethodTo(log, ofGuest('other@example.com'))
  await project()
  for (const url of ['/payment-methods', '/payment-methods?guest_email=Guest%40Example.com']) {
    const { data, meta, user_context } = (await get(url, asGuest)).json()
    t.equal(meta.total, 1)
    t.match(data, [{ id, guest_email: 'GUEST@example.com' }])
    t.match(user_context, { authenticated: false, search_method: 'guest_email', user_email: 'guest@example.com' })
  }
  t.equal((await get(`/payment-methods/${id}?token=demo-guest-token`, {})).statusCode, 200)
  t.equal((await get(`/payment-methods/${id}`, asAda)).statusCode, 404)
})
