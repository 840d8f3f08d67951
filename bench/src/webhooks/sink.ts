// The webhook endpoints: `/first` responds at once, `/second` may hang.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { serveRequests } from '../harness/program.ts'
import { machineMicros, momentOf } from './messages.ts'

const hangMs = 30_000

const BenchCommand = Type.Union([
  /** Makes the second endpoint respond after 30 s, or at once again, also to waiting requests. */
  Type.Object({ hang: Type.Boolean() }),
  /** Returns what has arrived since the last request of this kind. */
  Type.Object({ take: Type.Literal(true) }),
])

const pending = new Map<ServerResponse, NodeJS.Timeout>()
let isHanging = false
let arrived = { first: 0, second: 0, ages: [] as number[] }

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const isFirst = request.url === '/first'
    arrived[isFirst ? 'first' : 'second'] += 1
    if (isFirst) arrived.ages.push((machineMicros() - momentOf(Buffer.concat(chunks).toString())) / 1_000)
    if (!isFirst && isHanging) pending.set(response, setTimeout(respond, hangMs, response))
    else respond(response)
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

function respond(response: ServerResponse): void {
  clearTimeout(pending.get(response))
  pending.delete(response)
  response.end('ok')
}

async function handle(message: unknown): Promise<object> {
  const command = Value.Parse(BenchCommand, message)
  if ('hang' in command) {
    isHanging = command.hang
    if (!isHanging) for (const response of pending.keys()) respond(response)
    const address = server.address()
    return { port: typeof address === 'object' ? address?.port : undefined }
  }
  const taken = arrived
  arrived = { first: 0, second: 0, ages: [] }
  return taken
}

serveRequests(handle, async () => server.closeAllConnections())
