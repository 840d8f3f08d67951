import t from 'tap'
import type { Product } from '../../api/apiTypes.ts'
import { changesOf, emptyForm, formOf, problemsOf, productOf } from './productForm.ts'

const product: Product = {
  id: 'p',
  name: 'Plan',
  description: null,
  product_type: 'subscription',
  is_recurring: true,
  subtotal_cents: 1000,
  tax_cents: 190,
  discount_cents: 0,
  total_cents: 1190,
  currency: 'EUR',
  billing_interval: 'month',
  trial_days: 14,
  category_id: null,
  is_active: true,
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
}

t.test('an unchanged form changes nothing', async (t) => {
  t.same(problemsOf(formOf(product)), {})
  t.same(changesOf(product, formOf(product)), {})
})

t.test('a form changes what differs, and amounts together', async (t) => {
  t.same(changesOf(product, { ...formOf(product), name: ' Plan 2 ', category_id: 'a' }), {
    name: 'Plan 2',
    category_id: 'a',
  })
  t.same(changesOf(product, { ...formOf(product), subtotal: '12,5' }), {
    subtotal_cents: 1250,
    tax_cents: 190,
    discount_cents: 0,
  })
  t.same(changesOf(product, { ...formOf(product), billing_interval: '' }), {
    is_recurring: false,
    billing_interval: null,
    trial_days: null,
  })
})

t.test('a new product has every field in the currency it names', async (t) => {
  const form = { ...emptyForm, name: 'Tea', currency: 'jpy', subtotal: '500' }
  t.match(productOf(form), { name: 'Tea', currency: 'JPY', subtotal_cents: 500, tax_cents: 0, is_recurring: false })
})

t.test('a form with a wrong amount, currency or name cannot be sent', async (t) => {
  t.same(Object.keys(problemsOf(emptyForm)), ['name', 'subtotal'])
  const wrong = { ...formOf(product), currency: 'E', tax: 'x', discount: '-1', trial_days: '1.5' }
  t.same(Object.keys(problemsOf(wrong)), ['currency', 'tax', 'discount', 'trial_days'])
  t.same(Object.keys(problemsOf({ ...formOf(product), currency: 'JPY', subtotal: '1.5', tax: '0' })), [
    'subtotal',
    'discount',
  ])
})
