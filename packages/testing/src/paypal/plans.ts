// The fake's billing plans: request checks, list pages, and status changes.

import { valueAt } from '../fakeServer.ts'
import { issueOf, type Money } from './orderRequests.ts'
import { errorResponse, type FakeResponse, missing, paypalId, respondWith, textIssue } from './responses.ts'

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

export type ListDistortion = {
  /** The list lacks plans that are created from now on. */
  readonly isBehind?: boolean
  /** The list leaves out most fields, even with `Prefer: return=representation`. */
  readonly isMinimal?: boolean
  /** The maximum page size, even for larger requests. */
  readonly pageSize?: number
}

/** @param hasProduct whether the catalogue has a product with this id */
export function createPlans(hasProduct: (id: string) => boolean) {
  const all = new Map<string, Plan>()
  let listed: ReadonlySet<string> | undefined
  let distortion: ListDistortion = {}
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
    /** @param isWhole whether to return the whole plan, as with `Prefer: return=representation` */
    create(json: unknown, isWhole: boolean): FakeResponse {
      const made = create(json)
      return 'rejected' in made ? made.rejected : respondWith(201, shown(made.id, isWhole))
    },
    show: (id: string) => (all.has(id) ? respondWith(200, shown(id, true)) : missing),
    list(query: URLSearchParams, isWhole: boolean): FakeResponse {
      const [page, pageSize] = [Number(query.get('page') ?? 1), Number(query.get('page_size') ?? 10)]
      if (!(page >= 1) || !(pageSize >= 1 && pageSize <= 20)) return errorResponse(400, 'INVALID_PARAMETER_VALUE')
      const ofProduct = query.get('product_id')
      if (ofProduct !== null && !hasProduct(ofProduct)) return missing
      const size = Math.min(pageSize, distortion.pageSize ?? pageSize)
      const isRequested = ({ id, product_id }: Plan) =>
        (listed === undefined || listed.has(id)) && [null, product_id].includes(ofProduct)
      const plans = [...all.values()].filter(isRequested).toReversed()
      const show = isWhole && !distortion.isMinimal ? representation : minimal
      return respondWith(200, () => pageOf(plans.map(show), page, size))
    },
    patch(id: string, json: unknown): FakeResponse {
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
    activate: (id: string) => move(id, 'ACTIVE'),
    deactivate: (id: string) => move(id, 'INACTIVE'),
    all: all as ReadonlyMap<string, Plan>,
    /** Creates a plan as the merchant. @throws Error when PayPal would reject it */
    add(json: object): Plan {
      const made = create(json)
      const plan = 'rejected' in made ? undefined : all.get(made.id)
      if (!plan) throw new Error(`PayPal rejects ${JSON.stringify(json)}`)
      return plan
    },
    /** Changes a plan as the merchant. */
    change(id: string, changes: Partial<Omit<Plan, 'id'>>) {
      const plan = all.get(id)
      if (!plan) throw new Error(`no plan ${id}`)
      all.set(id, { ...plan, ...changes })
    },
    /** Makes lists outdated or incomplete. */
    distortList(how: ListDistortion) {
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
