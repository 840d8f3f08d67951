import { mapFields } from '@paylog/domain/fields'
import { clientTexts } from '@paylog/domain/payments/clientTexts'
import { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { addMethodTo, addPaymentTo, guest, ofUser } from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { ada, asGuest, queryApiHarness } from '../testing/queryApiHarness.ts'

const succeeded = {
  occurred_at: '2026-03-02T00:00:00.000Z',
  provider_time: '2026-03-02T00:00:00.000Z',
  status: 'succeeded' as const,
  provider_event_id: 'evt_1',
  provider_intent_id: null,
  provider_payment_id: 'ch_1',
  amount_cents: null,
  currency: null,
}

t.test('GET /payments/{id} returns every field, and the revision as ETag [2.1-fields]', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const texts = mapFields(clientTexts, (_, name) => `the ${name}`)
  const id = addPaymentTo(log, {
    ...ada,
    total_cents: 999_999_999_999,
    ...texts,
    metadata: { order: { lines: [1, 2.5, null, 'x'] } },
    guest_email: 'contact@example.com',
  })
  log.decide(id, (state) => recordStatus(succeeded, state))
  await project()
  const response = await get(`/payments/${id}`)
  t.equal(response.statusCode, 200)
  t.equal(response.headers.etag, '"2"')
  t.same(response.json(), {
    success: true,
    data: {
      id,
      subtotal_cents: 999_999_999_999,
      tax_cents: 0,
      discount_cents: 0,
      total_cents: 999_999_999_999,
      amount_cents: 999_999_999_999,
      amount_received_cents: 999_999_999_999,
      amount_refunded_cents: 0,
      amount_capturable_cents: 0,
      currency: 'EUR',
      status: 'succeeded',
      dispute_status: null,
      ...texts,
      provider_id: 'sandbox',
      provider_payment_id: 'ch_1',
      provider_intent_id: `pi_${id}`,
      client_secret: null,
      capture_method: 'automatic',
      redirect_url: null,
      expires_at: null,
      payment_method_id: null,
      payment_method: null,
      is_guest_payment: false,
      guest_email: 'contact@example.com',
      metadata: { order: { lines: [1, 2.5, null, 'x'] } },
      created_at: '2026-03-01T10:00:00.000Z',
      updated_at: '2026-03-02T00:00:00.000Z',
      completed_at: '2026-03-02T00:00:00.000Z',
    },
  })
  t.same(Object.keys(response.json().data).sort(), Object.keys(PaymentResource.properties).sort())
  t.equal((await get(`/payments/${id.toUpperCase()}`)).statusCode, 200, 'ids are case-insensitive')
})

t.test(
  'GET /payments returns the list fields, page, order and caller [2.1-list-fields 4.2-order-default 4.2-response]',
  async (t) => {
    const { log, project, get } = await queryApiHarness(t)
    const ids = [addPaymentTo(log, ada), addPaymentTo(log, { ...ada, occurred_at: '2026-03-01T11:00:00.000Z' })]
    await project()
    const response = await get('/payments')
    t.equal(response.statusCode, 200)
    const { success, data, meta, user_context } = response.json()
    t.equal(success, true)
    t.same(meta, { page: 1, limit: 20, total: 2, hasMore: false, orderBy: 'created_at', orderDir: 'desc' })
    t.same(user_context, {
      authenticated: true,
      user_id: ada.payer.id,
      user_type: 'user',
      user_email: 'ada@example.com',
      search_method: 'user_id',
    })
    t.same(
      data.map(({ id }: { id: string }) => id),
      ids.toReversed(),
    )
    const { payment_method: _, ...shownFields } = ListedPayment.properties
    const shown = Object.keys(shownFields)
    t.notOk(shown.includes('client_secret'))
    t.same(Object.keys(data[0]).sort(), shown.sort())

    const including = (await get('/payments?include=payment_method')).json()
    t.equal(including.data[0].payment_method, null)
  },
)

t.test(
  'a payment contains its method summary, in the list only with include=payment_method [2.2-fields]',
  async (t) => {
    const { log, project, get } = await queryApiHarness(t)
    const payment_method_id = addMethodTo(log, { ...ofUser(ada.payer.id), alias: 'Work' })
    const id = addPaymentTo(log, { ...ada, payment_method_id })
    await project()
    const summary = {
      id: payment_method_id,
      payment_type: 'card',
      wallet_type: null,
      card_brand: 'visa',
      last_four: '4242',
      expiry_month: '04',
      expiry_year: '2031',
      alias: 'Work',
    }
    t.same((await get(`/payments/${id}`)).json().data.payment_method, summary)
    t.same((await get('/payments?include=payment_method')).json().data[0].payment_method, summary)
    t.notOk('payment_method' in (await get('/payments')).json().data[0])
  },
)

t.test('a guest sees the payments of its e-mail [2.1-guest 4.2-guest 4.3-token]', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const id = addPaymentTo(log, guest('GUEST@example.com'))
  addPaymentTo(log, guest('other@example.com'))
  await project()
  for (const url of ['/payments', '/payments?guest_email=Guest%40Example.com']) {
    const { data, user_context } = (await get(url, asGuest)).json()
    t.match(data, [{ id, is_guest_payment: true, guest_email: 'GUEST@example.com' }])
    t.equal(data.length, 1)
    t.same(user_context, {
      authenticated: false,
      user_id: null,
      user_type: 'guest',
      user_email: 'guest@example.com',
      search_method: 'guest_email',
    })
  }
  t.equal((await get(`/payments/${id}`, asGuest)).statusCode, 200)
  t.equal((await get(`/payments/${id}?token=demo-guest-token`, {})).statusCode, 200)
  t.match((await get('/payments?token=demo-guest-token', {})).json(), { data: [{ id }], meta: { total: 1 } })
})

t.test('GET /payments applies every parameter [4.2-page 4.2-limit 4.2-filters 10.2-bounds]', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const at = (hour: number) => ({ occurred_at: `2026-03-01T1${hour}:00:00.000Z` })
  const named = new Map<string, string>()
  named.set(addPaymentTo(log, { ...ada, ...at(0), description: '50% off', total_cents: 3 }), 'a')
  named.set(addPaymentTo(log, { ...ada, ...at(1), description: '50 off', total_cents: 1 }), 'b')
  const settled = addPaymentTo(log, { ...ada, ...at(2), guest_email: 'x@example.com', total_cents: 2 })
  named.set(settled, 'c')
  log.decide(settled, (state) => recordStatus(succeeded, state))
  await project()
  const expected: [string, string][] = [
    ['', 'cba'],
    ['page=1&limit=2', 'cb'],
    ['page=2&limit=2', 'a'],
    ['page=3&limit=2', ''],
    ['page=2147483647&limit=50', ''],
    ['status=succeeded', 'c'],
    ['status=pending', 'ba'],
    ['status=failed', ''],
    ['search=50%25', 'a'],
    ['search=OFF', 'ba'],
    ['search=', 'cba'],
    ['search=ada%40', 'cba'],
    ['guest_email=X%40Example.com', 'c'],
    ['created_at_from=2026-03-01T10:00:00Z', 'cb'],
    ['created_at_from=2026-03-01T09:59:59.9999Z', 'cba'],
    ['created_at_from=2026-03-01T12:00:00%2B02:00', 'cb'],
    ['created_at_to=2026-03-01T11:00:00.000Z', 'a'],
    ['created_at_to=2026-03-01T11:00:00.0001Z', 'ba'],
    ['created_at_from=2026-03-01T10:00:00Z&created_at_to=2026-03-01T12:00:00Z', 'b'],
    ['created_at_from=0000-01-01T00:00:00Z&created_at_to=9999-12-31T23:59:59%2B23:59', 'cba'],
    ['orderDir=asc', 'abc'],
    ['orderBy=amount_cents', 'acb'],
    ['orderBy=amount_cents&orderDir=asc', 'bca'],
    ['orderBy=status&orderDir=desc&limit=1', 'c'],
    ['orderBy=updated_at&orderDir=asc', 'abc'],
    ['unknown=1&sort=x', 'cba'],
  ]
  for (const [query, names] of expected) {
    const response = await get(`/payments?${query}`)
    t.equal(response.statusCode, 200, query)
    t.equal(
      response
        .json()
        .data.map(({ id }: { id: string }) => named.get(id))
        .join(''),
      names,
      query,
    )
  }
  t.match((await get('/payments?limit=2')).json().meta, { total: 3, hasMore: true, page: 1, limit: 2 })
  t.match((await get('/payments?limit=2&page=2')).json().meta, { total: 3, hasMore: false, page: 2 })
  t.match(
    (await get('/payments?limit=3')).json().meta,
    { total: 3, hasMore: false },
    'hasMore is false on the last full page',
  )
  t.match((await get('/payments?limit=2&page=9')).json().meta, { total: 3, hasMore: false, page: 9 })
})

t.test('GET /payments names all invalid parameters of a request at once', async (t) => {
  const { get } = await queryApiHarness(t)
  const bad = 'page=0&limit=51&status=x&orderBy=id&orderDir=up&created_at_from=a&created_at_to=b'
  const { fields } = (await get(`/payments?${bad}`)).json().error.details
  t.same(
    fields.map(({ field }: { field: string }) => field),
    ['page', 'limit', 'status', 'created_at_from', 'created_at_to', 'orderBy', 'orderDir'],
  )
  t.equal(fields[6].message, 'must be "asc" or "desc"')
})
