// What PayPal demands of a request for a billing plan.

import { valueAt } from '../jsonAt.ts'
import { type FakeResponse, errorResponse } from './answers.ts'
import { currencies, type Money, withoutDecimals } from './orderRequests.ts'
import { textIssue } from './textIssue.ts'

export type Cycle = {
  readonly tenure_type: 'REGULAR' | 'TRIAL'
  readonly sequence: number
  readonly total_cycles: number
  readonly frequency: { readonly interval_unit: string; readonly interval_count: number }
  /** Left out for what is free. */
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

/** @returns the request, or the refusal */
export function readPlanRequest(json: unknown): { plan: PlanRequest } | { refused: FakeResponse } {
  for (const [field, limit] of Object.entries(texts)) {
    const issue = textIssue(valueAt(json, field), limit)
    if (issue) return { refused: errorResponse(400, issue, `/${field}`) }
  }
  const status = valueAt(json, 'status') ?? 'ACTIVE'
  if (status !== 'ACTIVE' && status !== 'CREATED')
    return { refused: errorResponse(400, 'INVALID_PARAMETER_VALUE', '/status') }
  if (typeof valueAt(json, 'payment_preferences') !== 'object')
    return { refused: errorResponse(400, 'MISSING_REQUIRED_PARAMETER', '/payment_preferences') }
  const given = valueAt(json, 'billing_cycles')
  if (!Array.isArray(given) || given.length === 0 || given.length > 12)
    return { refused: errorResponse(400, 'MISSING_REQUIRED_PARAMETER', '/billing_cycles') }
  const billing_cycles: Cycle[] = []
  for (const [index, one] of given.entries()) {
    const cycle = readCycle(one)
    if ('issue' in cycle) return { refused: errorResponse(400, cycle.issue, `/billing_cycles/${index}/${cycle.field}`) }
    billing_cycles.push(cycle)
  }
  const issue = orderIssue(billing_cycles)
  if (issue) return { refused: errorResponse(422, issue) }
  const described =
    valueAt(json, 'description') === undefined ? {} : { description: String(valueAt(json, 'description')) }
  const [product_id, name] = [String(valueAt(json, 'product_id')), String(valueAt(json, 'name'))]
  return { plan: { product_id, name, ...described, status, billing_cycles } }
}

function readCycle(json: unknown): Cycle | { readonly issue: string; readonly field: string } {
  const refused = (issue: string, field: string) => ({ issue, field })
  const tenure_type = valueAt(json, 'tenure_type')
  if (tenure_type !== 'REGULAR' && tenure_type !== 'TRIAL') return refused('INVALID_PARAMETER_VALUE', 'tenure_type')
  const sequence = integer(valueAt(json, 'sequence'), 1, 99)
  if (sequence === undefined) return refused('INVALID_INTEGER_MIN_VALUE', 'sequence')
  const total_cycles = integer(valueAt(json, 'total_cycles') ?? 1, 0, 999)
  if (total_cycles === undefined) return refused('INVALID_INTEGER_MAX_VALUE', 'total_cycles')
  const interval_unit = valueAt(json, 'frequency', 'interval_unit')
  const longest = longestIntervals.get(interval_unit)
  if (longest === undefined) return refused('INVALID_PARAMETER_VALUE', 'frequency/interval_unit')
  const interval_count = integer(valueAt(json, 'frequency', 'interval_count') ?? 1, 1, longest)
  if (interval_count === undefined) return refused('INVALID_INTEGER_MAX_VALUE', 'frequency/interval_count')
  const frequency = { interval_unit: String(interval_unit), interval_count }
  const cycle: Cycle = { tenure_type, sequence, total_cycles, frequency }
  if (valueAt(json, 'pricing_scheme') === undefined)
    return tenure_type === 'TRIAL' ? cycle : refused('MISSING_REQUIRED_PARAMETER', 'pricing_scheme')
  const money = 'pricing_scheme/fixed_price'
  const currency_code = valueAt(json, 'pricing_scheme', 'fixed_price', 'currency_code')
  const value = valueAt(json, 'pricing_scheme', 'fixed_price', 'value')
  if (typeof currency_code !== 'string' || !/^[A-Z]{3}$/.test(currency_code))
    return refused('INVALID_PARAMETER_SYNTAX', `${money}/currency_code`)
  const decimals = withoutDecimals.has(currency_code) ? /^\d{1,15}$/ : /^\d{1,15}(\.\d{1,2})?$/
  if (typeof value !== 'string' || !decimals.test(value)) return refused('INVALID_PARAMETER_VALUE', `${money}/value`)
  // What PayPal says of a regular cycle without a price is not documented; only trials are called free.
  if (tenure_type === 'REGULAR' && Number(value) === 0) return refused('INVALID_PARAMETER_VALUE', `${money}/value`)
  return { ...cycle, pricing_scheme: { fixed_price: { currency_code, value } } }
}

/** Of cycles that are each as they should be. */
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
