import t from 'tap'
import { admin } from '../testing/commandApiHarness.ts'
import { mug, type ProductResponse, productsHarness } from '../testing/productsHarness.ts'

const { post, put, productOf, recordsNothing } = await productsHarness(t)

const card = '4242 4242 4242 4242'

t.test('a product request with several errors reports the first one in contract order [10.1-order]', async (t) => {
  const id = await productOf()
  const stale = { ...admin, 'if-match': '"9"' }
  const cases: [string, () => Promise<ProductResponse>, number, string][] = [
    ['inconsistent, unknown product', () => put('x', { is_recurring: false, trial_days: 1 }), 400, 'invalid_request'],
    ['no price, stale', () => put(id, { total_cents: null, subtotal_cents: null }, stale), 400, 'invalid_request'],
    ['blank name, wrong total', () => post({ ...mug, name: ' ', subtotal_cents: 1 }), 400, 'invalid_request'],
    ['unknown product, recurring', () => put('x', { is_recurring: true }), 404, 'not_found'],
    ['unknown product, wrong total', () => put('x', { subtotal_cents: 1, total_cents: 2 }), 404, 'not_found'],
    ['stale, recurring', () => put(id, { is_recurring: true }, stale), 412, 'precondition_failed'],
    ['stale, wrong total', () => put(id, { discount_cents: 9999 }, stale), 412, 'precondition_failed'],
    ['stale, nothing changes', () => put(id, mug, stale), 412, 'precondition_failed'],
    ['recurring, card', () => put(id, { is_recurring: true, name: card }), 400, 'invalid_request'],
    ['recurring, wrong total', () => put(id, { is_recurring: true, discount_cents: 9999 }), 400, 'invalid_request'],
    ['wrong total', () => put(id, { discount_cents: 9999 }), 422, 'amount_inconsistent'],
    ['card, nothing changes', () => put(id, { ...mug, unknown: card }), 422, 'card_number_rejected'],
  ]
  for (const [name, request, status, code] of cases) {
    const response = await recordsNothing(t, request, `${name}: nothing is recorded`)
    t.equal(response.status, status, name)
    t.match(JSON.parse(response.text), { success: false, error: { code, message: /./, request_id: /./ } }, name)
  }
})
