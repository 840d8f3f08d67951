// The time limit of handlers.
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createLog } from '../telemetry/log.ts'
import { requestsInFlight } from './handlers.ts'
import { createHttp } from './http.ts'

t.test('a handler that takes too long gets 503, and its later result changes nothing', async (t) => {
  const lines: string[] = []
  const http = createHttp({ log: createLog({ app: 'test' }, { write: (line) => void lines.push(line) }) })
  t.teardown(() => http.close())
  let finish = () => {}
  http.get('/slow', { config: { handlerTimeoutMs: 50 } }, async () => {
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    return { ok: true }
  })
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const response = await fetch(`${url}/slow`)
  t.equal(response.status, 503)
  const message = 'The request took too long'
  t.match(await response.json(), { success: false, error: { code: 'service_unavailable', message } })
  t.match(requestsInFlight(http), [/^GET \/slow /], 'a shutdown waits for it')
  finish()
  await waitFor(() => requestsInFlight(http).length === 0, { what: 'the handler to end' })
  t.match(lines.join(''), /"level":"error".*request failed/)
  t.notMatch(lines.join(''), /already sent/)
})
