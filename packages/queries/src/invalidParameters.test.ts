// Every list rejects every invalid parameter, and names it.

import t from 'tap'
import { describedLists, pathOf } from './testing/lists.ts'
import { asAdmin, queryApiHarness } from './testing/queryApiHarness.ts'

/** NAME is the parameter, which is sent twice. */
const twice = ['1&NAME=2', 'a&NAME=b']
const choice = ['', 'x', 'PENDING', 'Billing', 'id', 'folded_name', 'created_at desc', 'constructor', ...twice]
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
const include = ['', 'user', 'payment_method,user', 'payment_method,', 'payment_method&NAME=payment_method']
const logged = ['', '%00', 'a%1fb', 'a%0ab', 'x'.repeat(301), ...twice]

/** Values that do not follow from the kind of a parameter. */
const byName: Readonly<Record<string, readonly string[]>> = {
  ...{ page, offset: [...integer, '2147483648'], cursor, search, include },
  ...{ currency: ['', 'EU', 'EURO', '1', ...twice], provider: logged, event_type: logged },
}

type Parameters = Readonly<
  Record<string, { readonly type?: string; readonly format?: string; readonly enum?: unknown }>
>

/** By the name or the kind of a parameter. Its bounds are not read, so that a missing one is found. */
function invalidValues(name: string, parameters: Parameters): readonly string[] {
  const { type, format, enum: values } = parameters[name] ?? {}
  if (name === 'limit') return [...integer, '0', parameters.cursor ? '101' : parameters.page ? '51' : '1001']
  const named = byName[name]
  if (named) return named
  if (format === 'date-time') return time
  if (type === 'integer') return amount
  if (Array.isArray(values)) return values.includes('true') ? flag : choice
  return exactText
}

const { get, routes } = await queryApiHarness(t)

/** The query parameters of a route. A guest token is no part of what is listed. */
function parametersOf(path: string): Parameters {
  const { schema } = routes.find(({ url }) => url === path) ?? {}
  const { token: _token, ...parameters } = Object(schema?.querystring).properties ?? {}
  return parameters
}

t.test('every list that the API registers is described', async (t) => {
  const registered = routes.filter(({ method, url }) => method === 'GET' && 'limit' in parametersOf(url))
  t.same([...new Set(Object.keys(describedLists).map(pathOf))].sort(), registered.map(({ url }) => url).sort())
})

for (const valid of Object.keys(describedLists))
  t.test(
    `${valid}: every invalid parameter is 400 and named [4.2-page 4.2-limit 4.7-validation 4.11-validation 4.12-list-validation]`,
    async (t) => {
      const given = new URLSearchParams(valid.split('?')[1])
      const parameters = parametersOf(pathOf(valid))
      for (const name of Object.keys(parameters).filter((each) => !given.has(each)))
        for (const value of invalidValues(name, parameters)) {
          const query = `${name}=${value.replaceAll('NAME', name)}`
          const response = await get(`${valid}${given.size > 0 ? '&' : '?'}${query}`, asAdmin)
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
