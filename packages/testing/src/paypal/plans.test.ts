// The fake PayPal's billing plans behave as PayPal documents.
import t from 'tap'
import { valueAt } from '../fakeServer.ts'
import { createPlans } from './plans.ts'
import type { FakeResponse } from './responses.ts'

const product_id = 'product-1'
const cycle = (more: object = {}) => ({
  tenure_type: 'REGULAR',
  sequence: 1,
  total_cycles: 0,
  frequency: { interval_unit: 'MONTH', interval_count: 1 },
  pricing_scheme: { fixed_price: { currency_code: 'EUR', value: '9.00' } },
  ...more,
})
const trial = (more: object = {}) =>
  cycle({ tenure_type: 'TRIAL', total_cycles: 1, pricing_scheme: undefined, ...more })
const plan = (more: object = {}) => ({
  product_id,
  name: 'Membership',
  billing_cycles: [cycle()],
  payment_preferences: {},
  ...more,
})
const price = (currency_code: string, value: string) => ({ pricing_scheme: { fixed_price: { currency_code, value } } })

const plansOfProduct = () => createPlans((id) => id === product_id)
const issueOf = ({ body }: FakeResponse) => valueAt(body(), 'details', 0, 'issue')
const idOf = ({ body }: FakeResponse) => String(valueAt(body(), 'id'))

t.test('fake PayPal: an invalid plan request gets PayPal’s issue', (t) => {
  const plans = plansOfProduct()
  const frequency = (interval_unit: string, interval_count: number) => ({
    frequency: { interval_unit, interval_count },
  })
  const two = (...cycles: object[]) => plan({ billing_cycles: cycles })
  const rows: readonly [plan: object, status: number, issue: string][] = [
    [plan({ product_id: undefined }), 400, 'MISSING_REQUIRED_PARAMETER'],
    [plan({ product_id: 'other-product' }), 404, 'INVALID_RESOURCE_ID'],
    [plan({ name: '' }), 400, 'INVALID_STRING_MIN_LENGTH'],
    [plan({ name: 'x'.repeat(128) }), 400, 'INVALID_STRING_MAX_LENGTH'],
    [plan({ description: 'x'.repeat(128) }), 400, 'INVALID_STRING_MAX_LENGTH'],
    [plan({ description: 5 }), 400, 'INVALID_PARAMETER_SYNTAX'],
    [plan({ status: 'INACTIVE' }), 400, 'INVALID_PARAMETER_VALUE'],
    [plan({ payment_preferences: undefined }), 400, 'MISSING_REQUIRED_PARAMETER'],
    [plan({ billing_cycles: [] }), 400, 'MISSING_REQUIRED_PARAMETER'],
    [two(cycle({ tenure_type: 'OTHER' })), 400, 'INVALID_PARAMETER_VALUE'],
    [two(cycle({ sequence: 0 })), 400, 'INVALID_INTEGER_MIN_VALUE'],
    [two(cycle({ total_cycles: 1000 })), 400, 'INVALID_INTEGER_MAX_VALUE'],
    [two(cycle(frequency('HOUR', 1))), 400, 'INVALID_PARAMETER_VALUE'],
    [two(cycle(frequency('DAY', 366))), 400, 'INVALID_INTEGER_MAX_VALUE'],
    [two(cycle(frequency('YEAR', 2))), 400, 'INVALID_INTEGER_MAX_VALUE'],
    [two(cycle({ pricing_scheme: undefined })), 400, 'MISSING_REQUIRED_PARAMETER'],
    [two(cycle(price('euro', '9.00'))), 400, 'INVALID_PARAMETER_SYNTAX'],
    [two(cycle(price('EUR', '9.001'))), 400, 'INVALID_PARAMETER_VALUE'],
    [two(cycle(price('HUF', '9.00'))), 400, 'INVALID_PARAMETER_VALUE'],
    [two(cycle(price('EUR', '0.00'))), 400, 'INVALID_PARAMETER_VALUE'],
    [two(cycle(price('KWD', '9.00'))), 422, 'CURRENCY_NOT_SUPPORTED_FOR_RECEIVER'],
    [two(trial()), 422, 'MISSING_REGULAR_BILLING_CYCLE'],
    [two(cycle(), cycle({ sequence: 2 })), 422, 'MULTIPLE_REGULAR_BILLING_CYCLES_NOT_SUPPORTED'],
    [
      two(trial(), trial({ sequence: 2 }), cycle({ sequence: 3 })),
      422,
      'MULTIPLE_FREE_TRIAL_BILLING_CYCLES_NOT_SUPPORTED',
    ],
    [two(trial({ total_cycles: 0 }), cycle({ sequence: 2 })), 422, 'INVALID_TRIAL_BILLING_TOTAL_CYCLES'],
    [two(cycle(), trial({ sequence: 2 })), 422, 'INVALID_BILLING_CYCLE_SEQUENCE'],
    [two(trial(), cycle({ sequence: 3 })), 422, 'INVALID_BILLING_CYCLE_SEQUENCE'],
    [two(trial(price('USD', '1.00')), cycle({ sequence: 2 })), 422, 'CURRENCY_MISMATCH'],
    [
      two(...[1, 2, 3].map((sequence) => trial({ sequence, ...price('EUR', '1.00') })), cycle({ sequence: 4 })),
      422,
      'MORE_THAN_TWO_TRIAL_BILLING_CYCLE_NOT_SUPPORTED',
    ],
  ]
  for (const [json, status, issue] of rows) {
    const rejected = plans.create(json, true)
    t.same([rejected.status, issueOf(rejected)], [status, issue], issue)
  }
  t.equal(plans.all.size, 0)
  t.equal(plans.create(two(trial(), cycle({ sequence: 2 })), true).status, 201)
  t.throws(() => plans.add(plan({ name: '' })), /rejects/)
  t.end()
})

t.test('fake PayPal: a plan is activated, deactivated, and renamed only while active', (t) => {
  const plans = plansOfProduct()
  const id = idOf(plans.create(plan(), false))
  const rename = (patch: object) => plans.patch(id, [patch])
  t.equal(rename({ op: 'replace', path: '/name', value: 'Friends' }).status, 204)
  t.match(plans.all.get(id), { status: 'ACTIVE', name: 'Friends' })
  t.equal(issueOf(rename({ op: 'add', path: '/name', value: 'x' })), 'UNSUPPORTED_PATCH_OPERATION')
  t.equal(issueOf(rename({ op: 'replace', path: '/billing_cycles', value: [] })), 'INVALID_PATCH_PATH')
  t.equal(issueOf(rename({ op: 'replace', path: '/name', value: '' })), 'INVALID_STRING_MIN_LENGTH')
  t.equal(issueOf(plans.activate(id)), 'PLAN_STATUS_INVALID')
  t.equal(plans.deactivate(id).status, 204)
  t.equal(issueOf(plans.deactivate(id)), 'PLAN_STATUS_INVALID')
  t.equal(issueOf(rename({ op: 'replace', path: '/name', value: 'Circle' })), 'PLAN_STATUS_INACTIVE')
  t.equal(plans.activate(id).status, 204)
  t.match(plans.all.get(id), { status: 'ACTIVE', name: 'Friends' })
  for (const missing of [plans.show('P-1'), plans.activate('P-1'), plans.patch('P-1', [])]) t.equal(missing.status, 404)
  t.end()
})

t.test('fake PayPal: plans are listed in pages, with all fields only with Prefer: return=representation', (t) => {
  const plans = plansOfProduct()
  const ids = Array.from({ length: 5 }, (_, index) => plans.add(plan({ name: `Plan ${index}` })).id)
  const list = (query: string, isWhole = false) => Object(plans.list(new URLSearchParams(query), isWhole).body())
  const idsIn = (page: object) => Object(page).plans.map(({ id }: { id: string }) => id)
  const [first, last] = [list('page=1&page_size=3&total_required=true'), list('page=2&page_size=3')]
  t.strictSame([...idsIn(first), ...idsIn(last)], ids.toReversed())
  t.match(first, { total_items: 5, total_pages: 2, links: [{ rel: 'self' }, { rel: 'next' }] })
  t.strictSame(Object.keys(last), ['plans', 'links'])
  t.strictSame(idsIn(list('page=3&page_size=3')), [])
  t.equal(issueOf(plans.list(new URLSearchParams('product_id=product-2'), true)), 'INVALID_RESOURCE_ID')
  t.notHas(first.plans[0], { billing_cycles: [] })
  t.match(list(`product_id=${product_id}`, true).plans[0].billing_cycles, [
    { pricing_scheme: { fixed_price: { value: '9.0', currency_code: 'EUR' } } },
  ])
  plans.distortList({ isBehind: true, isMinimal: true, pageSize: 2 })
  plans.add(plan())
  const short = list('page_size=3', true)
  t.strictSame(idsIn(short), ids.toReversed().slice(0, 2))
  t.notHas(short.plans[0], { billing_cycles: [] })
  for (const query of ['page_size=21', 'page=0', 'page_size=x'])
    t.equal(issueOf(plans.list(new URLSearchParams(query), false)), 'INVALID_PARAMETER_VALUE', query)
  t.end()
})
