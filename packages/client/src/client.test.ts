import t from 'tap'
import { createPaylogClient } from './client.ts'

const clientFor = (contentType: string, body: string) =>
  createPaylogClient({
    baseUrl: 'http://127.0.0.1',
    fetch: async () => new Response(body, { headers: { 'content-type': contentType } }),
  })

t.test('the lines of an export stay a text, and other bodies are parsed', async (t) => {
  const lines = '{"id":"1"}\n{"id":"2"}\n'
  t.equal((await clientFor('application/x-ndjson; charset=utf-8', lines).exportEvents()).body, lines)
  t.same((await clientFor('application/json; charset=utf-8', '{"data":[]}').listProjections()).body, { data: [] })
})

t.test('a list is a file for who accepts text/csv', async (t) => {
  const accepted: (string | null)[] = []
  const clientOf = (respond: () => Response) =>
    createPaylogClient({
      baseUrl: 'http://127.0.0.1',
      fetch: async (request) => {
        accepted.push(request.headers.get('accept'))
        return respond()
      },
    })
  const csv = () =>
    new Response('id\r\n1\r\n', { headers: { 'content-type': 'text/csv; charset=utf-8', 'x-row-count': '1' } })
  const { body, headers } = await clientOf(csv).listAnyPayments({ query: { status: 'failed' }, accept: 'text/csv' })
  t.equal(await new Response(body).text(), 'id\r\n1\r\n')
  t.equal(headers.get('x-row-count'), '1')
  const json = () => new Response('{"data":[]}', { headers: { 'content-type': 'application/json' } })
  t.same((await clientOf(json).listAnyPayments()).body, { data: [] })
  t.same(accepted, ['text/csv', null])
  await t.rejects(clientOf(json).listAnyPayments({ accept: 'text/csv' }), { code: 'unexpected_response' })
  const forbidden = () =>
    new Response('{"success":false,"error":{"code":"forbidden","message":"m","request_id":"r"}}', {
      status: 403,
      headers: { 'content-type': 'application/json' },
    })
  await t.rejects(clientOf(forbidden).listAnyPayments({ accept: 'text/csv' }), { code: 'forbidden' })
})

t.test('the file of a list that is none does not compile', (t) => {
  const client = createPaylogClient({ baseUrl: 'http://127.0.0.1' })
  // @ts-expect-error: of the caller's own payments there are no files
  const call = () => client.listPayments({ accept: 'text/csv' })
  t.type(call, 'function')
  t.end()
})
