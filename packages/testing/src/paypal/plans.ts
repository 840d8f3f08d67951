// The fake's billing plans: request checks, list pages, and status changes.

import { valueAt } from '../fakeServer.ts'
import { issueOf, type Money } from './orderRequests.ts'
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
  const { status = 'ACTIVE', payment_preferences, billing_cycles: cycles, ...texted } = Object(json)
  if (status !== 'ACTIVE' && status !== 'CREATED')
    return { rejected: errorResponse(400, 'INVALID_PARAMETER_VALUE', '/status') }
  if (typeof payment_preferences !== 'object')
    return { rejected: errorResponse(400, 'MISSING_REQUIRED_PARAMETER', '/payment_preferences') }
  if (!Array.isArray(cycles) || cycles.length === 0 || cycles.length > 2)
    return { rejected: errorResponse(400, 'MISSING_REQUIRED_PARAMETER', '/billing_cycles') }
  const wrong = cycles.findIndex((cycle, index) => !isCycle(cycle, { index, isLast: index === cycles.length - 1 }))
  if (wrong >= 0) return { rejected: errorResponse(422, 'INVALID_BILLING_CYCLE_SEQUENCE', `/billing_cycles/${wrong}`) }
  const { product_id, name, description } = texted
  return {
    plan: { product_id, name, ...(description !== undefined && { description }), status, billing_cycles: cycles },
  }
}

/** PayPal accepts other cycles too. Here they are a free trial, if any, and then the price without end or for some time. */
function isCycle(
  json: unknown,
  { index, isLast }: { readonly index: number; readonly isLast: boolean },
): json is Cycle {
  const { tenure_type, sequence, total_cycles = 1, frequency, pricing_scheme } = Object(json)
  const { interval_unit, interval_count = 1 } = Object(frequency)
  const price = Object(pricing_scheme?.fixed_price)
  const isPriced = isLast ? issueOf(price) === undefined : Number(price.value ?? 0) === 0
  return (
    tenure_type === (isLast ? 'REGULAR' : 'TRIAL') &&
    sequence === index + 1 &&
    isWithin(total_cycles, isLast ? 0 : 1, 999) &&
    isWithin(interval_count, 1, longestIntervals.get(interval_unit) ?? 0) &&
    isPriced
  )
}

const isWithin = (value: unknown, min: number, max: number) =>
  typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max

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
