// The fake's billing plans: request checks, list pages, and status changes.

import { valueAt } from '../fakeServer.ts'
import { currencies, type Money, withoutDecimals } from './orderRequests.ts'
import { errorResponse, type FakeResponse, paypalId, respondWith, textIssue } from './responses.ts'

export type Cycle = {
  readonly tenure_type: 'REGULAR' | 'TRIAL'
  readonly sequence: number
  readonly total_cycles: number
  readonly frequency: { readonly interval_unit: string; readonly interval_count: number }
  /** Missing for a free cycle. */
  readonly pricing_scheme?: { readonly fixed_price: Money }
}

export type PlanRequest = {
  readonly product_id: string
  readonly name: string
  readonly description?: string
  readonly status: 'CREATED' | 'ACTIVE'
  readonly billing_cycles: readonly Cycle[]
}

const texts = {
  product_id: { min: 6, max: 50, isRequired: true },
  name: { min: 1, max: 127, isRequired: true },
  description: { min: 1, max: 127, isRequired: false },
} as const
const longestIntervals: ReadonlyMap<unknown, number> = new Map([
  ['DAY', 365],
  ['WEEK', 52],
  ['MONTH', 12],
  ['YEAR', 1],
])

/** @returns the request, or the error response */
function readPlanRequest(json: unknown): { plan: PlanRequest } | { rejected: FakeResponse } {
  for (const [field, limit] of Object.entries(texts)) {
    const issue = textIssue(valueAt(json, field), limit)
    if (issue) return { rejected: errorResponse(400, issue, `/${field}`) }
  }
  const status = valueAt(json, 'status') ?? 'ACTIVE'
  if (status !== 'ACTIVE' && status !== 'CREATED')
    return { rejected: errorResponse(400, 'INVALID_PARAMETER_VALUE', '/status') }
  if (typeof valueAt(json, 'payment_preferences') !== 'object')
    return { rejected: errorResponse(400, 'MISSING_REQUIRED_PARAMETER', '/payment_preferences') }
  const given = valueAt(json, 'billing_cycles')
  if (!Array.isArray(given) || given.length === 0 || given.length > 12)
    return { rejected: errorResponse(400, 'MISSING_REQUIRED_PARAMETER', '/billing_cycles') }
  const billing_cycles: Cycle[] = []
  for (const [index, one] of given.entries()) {
    const cycle = readCycle(one)
    if ('issue' in cycle)
      return { rejected: errorResponse(400, cycle.issue, `/billing_cycles/${index}/${cycle.field}`) }
    billing_cycles.push(cycle)
  }
  const issue = orderIssue(billing_cycles)
  if (issue) return { rejected: errorResponse(422, issue) }
  const described =
    valueAt(json, 'description') === undefined ? {} : { description: String(valueAt(json, 'description')) }
  const [product_id, name] = [String(valueAt(json, 'product_id')), String(valueAt(json, 'name'))]
  return { plan: { product_id, name, ...described, status, billing_cycles } }
}

function readCycle(json: unknown): Cycle | { readonly issue: string; readonly field: string } {
  const issueAt = (issue: string, field: string) => ({ issue, field })
  const tenure_type = valueAt(json, 'tenure_type')
  if (tenure_type !== 'REGULAR' && tenure_type !== 'TRIAL') return issueAt('INVALID_PARAMETER_VALUE', 'tenure_type')
  const sequence = integer(valueAt(json, 'sequence'), 1, 99)
  if (sequence === undefined) return issueAt('INVALID_INTEGER_MIN_VALUE', 'sequence')
  const total_cycles = integer(valueAt(json, 'total_cycles') ?? 1, 0, 999)
  if (total_cycles === undefined) return issueAt('INVALID_INTEGER_MAX_VALUE', 'total_cycles')
  const interval_unit = valueAt(json, 'frequency', 'interval_unit')
  const longest = longestIntervals.get(interval_unit)
  if (longest === undefined) return issueAt('INVALID_PARAMETER_VALUE', 'frequency/interval_unit')
  const interval_count = integer(valueAt(json, 'frequency', 'interval_count') ?? 1, 1, longest)
  if (interval_count === undefined) return issueAt('INVALID_INTEGER_MAX_VALUE', 'frequency/interval_count')
  const frequency = { interval_unit: String(interval_unit), interval_count }
  const cycle: Cycle = { tenure_type, sequence, total_cycles, frequency }
  if (valueAt(json, 'pricing_scheme') === undefined)
    return tenure_type === 'TRIAL' ? cycle : issueAt('MISSING_REQUIRED_PARAMETER', 'pricing_scheme')
  const money = 'pricing_scheme/fixed_price'
  const currency_code = valueAt(json, 'pricing_scheme', 'fixed_price', 'currency_code')
  const value = valueAt(json, 'pricing_scheme', 'fixed_price', 'value')
  if (typeof currency_code !== 'string' || !/^[A-Z]{3}$/.test(currency_code))
    return issueAt('INVALID_PARAMETER_SYNTAX', `${money}/currency_code`)
  const decimals = withoutDecimals.has(currency_code) ? /^\d{1,15}$/ : /^\d{1,15}(\.\d{1,2})?$/
  if (typeof value !== 'string' || !decimals.test(value)) return issueAt('INVALID_PARAMETER_VALUE', `${money}/value`)
  // PayPal does not document free regular cycles; only trials can be free.
  if (tenure_type === 'REGULAR' && Number(value) === 0) return issueAt('INVALID_PARAMETER_VALUE', `${money}/value`)
  return { ...cycle, pricing_scheme: { fixed_price: { currency_code, value } } }
}

/** Checks the sequence of valid cycles. */
function orderIssue(cycles: readonly Cycle[]): string | undefined {
  const trials = cycles.filter(({ tenure_type }) => tenure_type === 'TRIAL')
  const regular = cycles.length - trials.length
  if (regular === 0) return 'MISSING_REGULAR_BILLING_CYCLE'
  if (regular > 1) return 'MULTIPLE_REGULAR_BILLING_CYCLES_NOT_SUPPORTED'
  if (trials.length > 2) return 'MORE_THAN_TWO_TRIAL_BILLING_CYCLE_NOT_SUPPORTED'
  if (trials.some(({ total_cycles }) => total_cycles === 0)) return 'INVALID_TRIAL_BILLING_TOTAL_CYCLES'
  if (trials.filter(isFree).length > 1) return 'MULTIPLE_FREE_TRIAL_BILLING_CYCLES_NOT_SUPPORTED'
  const inOrder = cycles.toSorted((one, other) => one.sequence - other.sequence)
  const isConsecutive = inOrder.every(({ sequence }, index) => sequence === index + 1)
  if (!isConsecutive || inOrder.at(-1)?.tenure_type !== 'REGULAR') return 'INVALID_BILLING_CYCLE_SEQUENCE'
  const named = cycles.flatMap(({ pricing_scheme }) => pricing_scheme?.fixed_price.currency_code ?? [])
  if (new Set(named).size > 1) return 'CURRENCY_MISMATCH'
  return named.every((code) => currencies.has(code)) ? undefined : 'CURRENCY_NOT_SUPPORTED_FOR_RECEIVER'
}

const isFree = ({ pricing_scheme }: Cycle) => Number(pricing_scheme?.fixed_price.value ?? 0) === 0

function integer(value: unknown, min: number, max: number): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? value : undefined
}

export type Plan = Omit<PlanRequest, 'status'> & {
  readonly id: string
  readonly status: 'CREATED' | 'ACTIVE' | 'INACTIVE'
  readonly create_time: string
}

export type Plans = {
  /** @param isWhole whether to return the whole plan, as with `Prefer: return=representation` */
  create(json: unknown, isWhole: boolean): FakeResponse
  show(id: string): FakeResponse
  list(query: URLSearchParams, isWhole: boolean): FakeResponse
  patch(id: string, json: unknown): FakeResponse
  activate(id: string): FakeResponse
  deactivate(id: string): FakeResponse
  readonly all: ReadonlyMap<string, Plan>
  /** Creates a plan as the merchant. @throws Error when PayPal would reject it */
  add(plan: object): Plan
  /** Changes a plan as the merchant. */
  change(id: string, changes: Partial<Omit<Plan, 'id'>>): void
  /** Makes lists outdated or incomplete. */
  distortList(how: ListDistortion): void
}

export type ListDistortion = {
  /** The list lacks plans that are created from now on. */
  readonly isBehind?: boolean
  /** The list leaves out most fields, even with `Prefer: return=representation`. */
  readonly isMinimal?: boolean
  /** The maximum page size, even for larger requests. */
  readonly pageSize?: number
}

/** @param hasProduct whether the catalogue has a product with this id */
export function createPlans(hasProduct: (id: string) => boolean): Plans {
  const all = new Map<string, Plan>()
  let listed: ReadonlySet<string> | undefined
  let distortion: ListDistortion = {}
  const missing = errorResponse(404, 'INVALID_RESOURCE_ID')
  const done = respondWith(204, () => undefined)

  function create(json: unknown): { readonly id: string } | { readonly rejected: FakeResponse } {
    const read = readPlanRequest(json)
    if ('rejected' in read) return read
    if (!hasProduct(read.plan.product_id)) return { rejected: missing }
    const id = `P-${paypalId()}${paypalId().slice(0, 7)}`
    // In whole seconds, like PayPal's times.
    all.set(id, { ...read.plan, id, create_time: `${new Date().toISOString().slice(0, 19)}Z` })
    return { id }
  }
  const shown = (id: string, isWhole: boolean) => () => {
    const plan = all.get(id)
    return plan && (isWhole ? representation(plan) : minimal(plan))
  }
  function move(id: string, to: 'ACTIVE' | 'INACTIVE'): FakeResponse {
    const plan = all.get(id)
    if (!plan) return missing
    if (to === 'ACTIVE' ? plan.status === 'ACTIVE' : plan.status !== 'ACTIVE')
      return errorResponse(422, 'PLAN_STATUS_INVALID')
    all.set(id, { ...plan, status: to })
    return done
  }
  return {
    create(json, isWhole) {
      const made = create(json)
      return 'rejected' in made ? made.rejected : respondWith(201, shown(made.id, isWhole))
    },
    show: (id) => (all.has(id) ? respondWith(200, shown(id, true)) : missing),
    list(query, isWhole) {
      const [page, pageSize] = [Number(query.get('page') ?? 1), Number(query.get('page_size') ?? 10)]
      if (!(page >= 1) || !(pageSize >= 1 && pageSize <= 20)) return errorResponse(400, 'INVALID_PARAMETER_VALUE')
      const ofProduct = query.get('product_id')
      if (ofProduct !== null && !hasProduct(ofProduct)) return missing
      const size = Math.min(pageSize, distortion.pageSize ?? pageSize)
      const isRequested = ({ id, product_id }: Plan) =>
        (listed === undefined || listed.has(id)) && [null, product_id].includes(ofProduct)
      const plans = [...all.values()].filter(isRequested).toReversed()
      const show = isWhole && !distortion.isMinimal ? representation : minimal
      const totals = query.get('total_required') === 'true'
      return respondWith(200, () => ({
        ...pageOf(plans.map(show), page, size),
        ...(totals ? totalsOf(plans, size) : {}),
      }))
    },
    patch(id, json) {
      const plan = all.get(id)
      if (!plan) return missing
      if (plan.status === 'INACTIVE') return errorResponse(422, 'PLAN_STATUS_INACTIVE')
      const [path, value] = [valueAt(json, 0, 'path'), valueAt(json, 0, 'value')]
      if ((path !== '/name' && path !== '/description') || valueAt(json, 1) !== undefined)
        return errorResponse(400, 'INVALID_PATCH_PATH')
      if (valueAt(json, 0, 'op') !== 'replace') return errorResponse(400, 'UNSUPPORTED_PATCH_OPERATION')
      const issue = textIssue(value, { min: 1, max: 127, isRequired: true })
      if (issue) return errorResponse(400, issue, path)
      all.set(id, { ...plan, [path.slice(1)]: value })
      return done
    },
    activate: (id) => move(id, 'ACTIVE'),
    deactivate: (id) => move(id, 'INACTIVE'),
    all,
    add(json) {
      const made = create(json)
      const plan = 'rejected' in made ? undefined : all.get(made.id)
      if (!plan) throw new Error(`PayPal rejects ${JSON.stringify(json)}`)
      return plan
    },
    change(id, changes) {
      const plan = all.get(id)
      if (!plan) throw new Error(`no plan ${id}`)
      all.set(id, { ...plan, ...changes })
    },
    distortList(how) {
      distortion = how
      listed = how.isBehind ? new Set(all.keys()) : undefined
    },
  }
}

function pageOf(plans: readonly object[], page: number, size: number) {
  const first = (page - 1) * size
  const links = first + size < plans.length ? ['self', 'next'] : ['self']
  return {
    plans: plans.slice(first, first + size),
    links: links.map((rel) => ({ href: 'https://api-m.paypal.com/v1/billing/plans', rel, method: 'GET' })),
  }
}

function totalsOf(plans: readonly Plan[], size: number) {
  return { total_items: plans.length, total_pages: Math.ceil(plans.length / size) }
}

function minimal({ billing_cycles: _, ...plan }: Plan) {
  return { ...plan, links: [] }
}

function representation({ billing_cycles, ...plan }: Plan) {
  return {
    ...plan,
    usage_type: 'LICENSED',
    billing_cycles: billing_cycles.map(shownCycle),
    payment_preferences: { service_type: 'PREPAID', auto_bill_outstanding: true, payment_failure_threshold: 0 },
    quantity_supported: false,
    links: [],
  }
}

/** Writes amounts in PayPal's format: `9.00` becomes `9.0`. */
function shownCycle({ pricing_scheme, ...cycle }: Cycle) {
  if (!pricing_scheme) return cycle
  const { currency_code, value } = pricing_scheme.fixed_price
  const [whole, fraction = ''] = value.split('.')
  const written = `${whole}.${fraction.replace(/0+$/, '') || '0'}`
  return { pricing_scheme: { version: 1, fixed_price: { currency_code, value: written } }, ...cycle }
}
