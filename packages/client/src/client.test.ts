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
