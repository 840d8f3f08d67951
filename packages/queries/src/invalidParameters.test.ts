// Every list rejects every invalid parameter, and names it.

import t from 'tap'
import { addressList } from './addresses/queries.ts'
import { anyPaymentList } from './admin-payments/queries.ts'
import { auditTrailList } from './audit-trail/queries.ts'
import { disputeList } from './disputes/queries.ts'
import type { List } from './lists/defineList.ts'
import { paymentList } from './payments/queries.ts'
import { productList } from './products/queries.ts'
import { ada, asAdmin, queryApiHarness } from './testing/queryApiHarness.ts'

/** NAME is the parameter, which is sent twice. */
const twice = ['1&NAME=2', 'a&NAME=b']
const choice = ['', 'x', 'PENDING', 'Billing', ...twice]
const exactText = ['', '%00', 'x'.repeat(256), ...twice]
const search = ['%00', 'a%1fb', 'x'.repeat(256), ...twice]
const time = [
  ...['', 'yesterday', '2026-03-01', '2026-03-01T10:00:00', '2026-02-30T10:00:00Z', '2026-03-01T25:00:00Z'],
  ...['2016-12-31T23:59:60Z', '2026-03-01T10:00:00+01:00', '1767225600', ...twice],
]
const integer = ['-1', '1.5', 'x', '', '1e3', 'Infinity', '99999999999999999999', ...twice]
const page = [...integer, '0', '2147483648']
const amount = [...integer, '9007199254740992', '1e400']
const flag = ['', '1', 'yes', 'TRUE', 'True', 'null', 'false%20', 'true&NAME=true']
const cursor = ['', 'x', 'W10', 'bnVsbA', 'WyJhIiwiYiIsImMiXQ', '%00', 'x'.repeat(4097), ...twice]
const order = { orderBy: ['', 'id', 'folded_name', 'created_at desc', 'constructor', ...twice], orderDir: choice }
const created = { created_at_from: time, created_at_to: time }
const numbered = { page, limit: [...integer, '0', '51'] }
const own = { ...numbered, guest_email: ['', '%00', `${'x'.repeat(250)}@example.com`, ...twice] }
const byCursor = { limit: [...integer, '0', '101'], cursor }
const include = ['', 'user', 'payment_method,user', 'payment_method,', 'payment_method&NAME=payment_method']
const owned = { ...numbered, guest_email: exactText }
const logged = ['', '%00', 'a%1fb', 'a%0ab', 'x'.repeat(301), ...twice]

const lists: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '/payments?': { ...own, ...order, ...created, status: choice, search, include },
  '/payment-methods?': own,
  '/addresses?': { ...own, address_type: choice },
  [`/admin/payment-methods?user_id=${ada.payer.id}&`]: owned,
  [`/admin/addresses?user_id=${ada.payer.id}&`]: { ...owned, address_type: choice },
  '/admin/disputes?': { ...byCursor, status: choice },
  '/admin/audit-trail?': { ...byCursor, ...created, action: exactText, actor: exactText, target: exactText },
  '/admin/products?': {
    ...{ ...byCursor, page, offset: [...integer, '2147483648'], ...order },
    ...{ category_id: exactText, product_type: choice, is_recurring: flag, is_active: flag, search },
  },
  '/admin/payments?': {
    ...{ ...byCursor, ...order, ...created, status: choice, search, amount_from: amount, amount_to: amount },
    ...{ provider_id: exactText, user_id: exactText, guest_email: exactText, reference_code: exactText },
    ...{ currency: ['', 'EU', 'EURO', '1', ...twice], refunded: flag, disputed: flag, attention: flag },
  },
  '/webhooks/logs?': {
    ...{ limit: [...integer, '0', '1001'], offset: [...integer, '2147483648'], status: choice },
    ...{ provider: logged, event_type: logged },
  },
}

/** Each of their filters must be among the parameters above. */
const described: Readonly<Record<string, List>> = {
  '/payments?': paymentList,
  '/addresses?': addressList,
  '/admin/disputes?': disputeList,
  '/admin/audit-trail?': auditTrailList,
  '/admin/products?': productList,
  '/admin/payments?': anyPaymentList,
}

t.test('every filter of a list has invalid values here', async (t) => {
  for (const [path, { filters }] of Object.entries(described))
    for (const name of Object.keys(filters)) t.ok(lists[path]?.[name], `${path}${name}`)
})

const { get } = await queryApiHarness(t)

for (const [path, parameters] of Object.entries(lists))
  t.test(
    `${path}: every invalid parameter is 400 and named [4.2-page 4.2-limit 4.7-validation 4.11-validation 4.12-list-validation]`,
    async (t) => {
      for (const [name, values] of Object.entries(parameters))
        for (const value of values) {
          const query = `${name}=${value.replaceAll('NAME', name)}`
          const response = await get(`${path}${query}`, asAdmin)
          t.equal(response.statusCode, 400, query)
          const error = { code: 'invalid_request', message: String, request_id: String }
          t.match(
            response.json(),
            { success: false, error: { ...error, details: { fields: [{ field: name }] } } },
            query,
          )
        }
    },
  )
