// The billing plans that PayPal keeps of the products in its catalogue.

import { valueAt } from '../jsonAt.ts'
import { type FakeResponse, respondWith, errorResponse } from './answers.ts'
import { paypalId } from './ids.ts'
import { type Cycle, type PlanRequest, readPlanRequest } from './planRequests.ts'
import { textIssue } from './textIssue.ts'

export type Plan = Omit<PlanRequest, 'status'> & {
  readonly id: string
  readonly status: 'CREATED' | 'ACTIVE' | 'INACTIVE'
  readonly create_time: string
}

export type Plans = {
  /** @param isWhole whether the answer is to show the whole plan, as with `Prefer: return=representation` */
  create(json: unknown, isWhole: boolean): FakeResponse
  show(id: string): FakeResponse
  list(query: URLSearchParams, isWhole: boolean): FakeResponse
  patch(id: string, json: unknown): FakeResponse
  activate(id: string): FakeResponse
  deactivate(id: string): FakeResponse
  readonly all: ReadonlyMap<string, Plan>
  /** Makes a plan by hand, as the merchant may. @throws when PayPal would refuse it */
  add(plan: object): Plan
  /** Changes a plan by hand. */
  change(id: string, changes: Partial<Omit<Plan, 'id'>>): void
  /** Makes the list worse than it has to be. */
  distortList(how: ListDistortion): void
}

export type ListDistortion = {
  /** It lacks the plans that are made from then on, as if it were behind. */
  readonly isBehind?: boolean
  /** It leaves out most of each plan, whatever was asked for. */
  readonly isMinimal?: boolean
  /** It gives no more on a page, whatever was asked for. */
  readonly pageSize?: number
}

/** @param hasProduct whether the catalogue has a product with this id */
export function createPlans(hasProduct: (id: string) => boolean): Plans {
  const all = new Map<string, Plan>()
  let listed: ReadonlySet<string> | undefined
  let distortion: ListDistortion = {}
  const missing = errorResponse(404, 'INVALID_RESOURCE_ID')
  const done = respondWith(204, () => undefined)

  function create(json: unknown): { readonly id: string } | { readonly refused: FakeResponse } {
    const read = readPlanRequest(json)
    if ('refused' in read) return read
    if (!hasProduct(read.plan.product_id)) return { refused: missing }
    const id = `P-${paypalId()}${paypalId().slice(0, 7)}`
    // In whole seconds, as PayPal has it.
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
      return 'refused' in made ? made.refused : respondWith(201, shown(made.id, isWhole))
    },
    show: (id) => (all.has(id) ? respondWith(200, shown(id, true)) : missing),
    list(query, isWhole) {
      const [page, asked] = [Number(query.get('page') ?? 1), Number(query.get('page_size') ?? 10)]
      if (!(page >= 1) || !(asked >= 1 && asked <= 20)) return errorResponse(400, 'INVALID_PARAMETER_VALUE')
      const ofProduct = query.get('product_id')
      if (ofProduct !== null && !hasProduct(ofProduct)) return missing
      const size = Math.min(asked, distortion.pageSize ?? asked)
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
      const plan = 'refused' in made ? undefined : all.get(made.id)
      if (!plan) throw new Error(`PayPal refuses ${JSON.stringify(json)}`)
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

/** PayPal writes amounts in its own way. */
function shownCycle({ pricing_scheme, ...cycle }: Cycle) {
  if (!pricing_scheme) return cycle
  const { currency_code, value } = pricing_scheme.fixed_price
  const [whole, fraction = ''] = value.split('.')
  const written = `${whole}.${fraction.replace(/0+$/, '') || '0'}`
  return { pricing_scheme: { version: 1, fixed_price: { currency_code, value: written } }, ...cycle }
}
