import { randomUUID } from 'node:crypto'
import t from 'tap'
import { apiHarness } from '../testing/apiHarness.ts'
import { methodsOf } from './apiPaths.ts'

t.test('methodsOf returns the methods of an API path, with HEAD for GET', async (t) => {
  t.same(methodsOf('/addresses'), ['GET', 'HEAD', 'POST'])
  t.same(methodsOf(`/addresses/${randomUUID()}`), ['DELETE', 'GET', 'HEAD', 'PUT'])
  t.same(methodsOf('/payments/intents'), ['GET', 'HEAD', 'POST'], 'intents is an id as well')
  for (const path of ['/', '/addresses/', '/addresses/a/b', '/webhooks/stripe', '/metrics', '/constructor'])
    t.same(methodsOf(path), [], path)
})

t.test(
  'a known path with another method is 405 with Allow, even in the API that does not serve the path',
  async (t) => {
    const { url } = await apiHarness(t, {}, async (http) => {
      http.get('/payments', async () => ({}))
    })
    for (const [method, path, allow] of [
      ['PUT', '/payments?session_id=a', 'GET, HEAD'],
      ['PATCH', `/addresses/${randomUUID()}`, 'DELETE, GET, HEAD, PUT'],
      ['GET', '/webhooks/test', 'POST'],
      ['PROPFIND', '/payments', 'GET, HEAD'],
    ] as const) {
      const response = await fetch(`${url}${path}`, { method })
      t.same([response.status, response.headers.get('allow')], [405, allow], `${method} ${path}`)
      const { error } = (await response.json()) as { error: { code: string; message: string; request_id: string } }
      t.match(error, { code: 'method_not_allowed', request_id: response.headers.get('x-request-id') })
      t.equal(error.message, `The method ${method} is not allowed here; this path has ${allow}`)
    }
    for (const [method, path] of [
      ['PUT', '/nowhere'],
      ['GET', '/webhooks/stripe'],
      ['POST', '/metrics'],
      ['POST', '/addresses'],
      ['HEAD', '/webhooks/test'],
      ['OPTIONS', '/payments'],
    ] as const) {
      const response = await fetch(`${url}${path}`, { method })
      t.same([response.status, response.headers.get('allow')], [404, null], `${method} ${path}`)
    }
    t.equal((await fetch(`${url}/payments`, { method: 'HEAD' })).status, 200)
  },
)
