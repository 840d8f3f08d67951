import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { DomainError } from '../errors.ts'
import { maxAmountCents } from '../money.ts'
import { changedContent, maxTrialDays, NewProduct, newContent, ProductChanges } from './content.ts'
import { ProductContent } from './events.ts'

const nullable = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null })
/** Small amounts, so that parts sometimes add up, and the largest. */
const cents = nullable(fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant(maxAmountCents)))
const currency = fc.constantFrom('EUR', 'eur', 'Jpy', 'USD', 'XXX', 'abc')
const name = fc.constantFrom('a', ' b ', ' ')
const product_type = fc.constantFrom('physical' as const, 'subscription' as const)
const others = {
  description: nullable(fc.constantFrom('', 'x')),
  is_recurring: fc.boolean(),
  subtotal_cents: cents,
  tax_cents: cents,
  discount_cents: cents,
  total_cents: cents,
  billing_interval: nullable(fc.constantFrom('day' as const, 'year' as const)),
  trial_days: nullable(fc.constantFrom(0, 1, maxTrialDays)),
  category_id: nullable(fc.constantFrom('c', 'x')),
  is_active: fc.boolean(),
}
const requests = fc.record(
  { name, product_type, currency, ...others },
  { requiredKeys: ['name', 'product_type', 'currency'] },
)
const changesTo = fc.record({ name, product_type, currency, ...others }, { requiredKeys: [] })
const isContent = Compile(ProductContent)
const isRequest = Compile(NewProduct)
const isChanges = Compile(Type.With(ProductChanges, { minProperties: 0 }))

/** @returns valid content, or undefined after invalid_request or amount_inconsistent. @throws for invalid content */
function contentOrError(act: () => ProductContent): ProductContent | undefined {
  let content: ProductContent
  try {
    content = act()
  } catch (error) {
    if (error instanceof DomainError && ['invalid_request', 'amount_inconsistent'].includes(error.code))
      return undefined
    throw error
  }
  const { subtotal_cents, tax_cents, discount_cents, total_cents, is_recurring, billing_interval, trial_days } = content
  const isValid =
    isContent.Check(content) &&
    total_cents === subtotal_cents + tax_cents - discount_cents &&
    [subtotal_cents, tax_cents, discount_cents, total_cents].every((part) => part >= 0 && part <= maxAmountCents) &&
    is_recurring === (billing_interval !== null) &&
    (is_recurring || !trial_days) &&
    content.name.trim() !== '' &&
    ['EUR', 'JPY', 'USD'].includes(content.currency)
  if (!isValid) throw new Error(`accepted: ${JSON.stringify(content)}`)
  return content
}

t.test(
  'random new products are valid when accepted, and changing them to their own values changes nothing',
  async (t) => {
    let accepted = 0
    fc.assert(
      fc.property(requests, fc.subarray(Object.keys(ProductContent.properties)), (request, fields) => {
        if (!isRequest.Check(request)) throw new Error('not a request')
        const content = contentOrError(() => newContent(request))
        if (!content) return true
        accepted += 1
        const same = Object.fromEntries(Object.entries(content).filter(([field]) => fields.includes(field)))
        return isDeepStrictEqual(changedContent(content, same), content)
      }),
      { numRuns: 2_000 },
    )
    t.ok(accepted > 50, `${accepted} were accepted`)
  },
)

/** The expected value of a field after changes; undefined if it is derived from other fields. */
function expectedValue(field: string, before: ProductContent, changes: ProductChanges): unknown {
  const then = new Map<string, unknown>(Object.entries({ ...before, ...changes })).get(field)
  if (field === 'tax_cents' || field === 'discount_cents') return then ?? 0
  if (field === 'subtotal_cents' || field === 'total_cents') return field in changes ? (then ?? undefined) : undefined
  return field === 'currency' ? String(then).toUpperCase() : then
}

t.test('random product changes give valid content with the changed values, and omitted fields stay', async (t) => {
  const taxed = newContent({ name: 'a', product_type: 'digital', currency: 'EUR', subtotal_cents: 3, tax_cents: 2 })
  const recurring = newContent({ ...taxed, is_recurring: true, billing_interval: 'day', trial_days: 1 })
  let accepted = 0
  fc.assert(
    fc.property(fc.constantFrom(taxed, recurring), changesTo, (before, changes) => {
      if (!isChanges.Check(changes)) throw new Error('not changes')
      const content = contentOrError(() => changedContent(before, changes))
      if (!content) return true
      accepted += 1
      return Object.entries(content).every(([field, value]) => {
        const expected = expectedValue(field, before, changes)
        return expected === undefined || value === expected
      })
    }),
    { numRuns: 2_000 },
  )
  t.ok(accepted > 50, `${accepted} were accepted`)
})
