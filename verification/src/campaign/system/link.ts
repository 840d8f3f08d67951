// A network link between two parts of the system: a TCP proxy that can be cut, silent or slow.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '@paylog/testing/processes'
import type { Random } from '../random.ts'

export type Link = {
  /** From whom to whom, as `worker → redis`. */
  readonly name: string
  /** Where the first part connects to. */
  readonly port: number
  /** Forwards new connections to these ports of 127.0.0.1, in turn; one that refuses is skipped. */
  forwardTo(...ports: readonly number[]): void
  /** Resets all connections and refuses new ones, until `restore`. */
  cut(): Promise<void>
  /**
   * Nothing arrives any more, and nobody is told. With `replies` only what the second part sends is held back.
   * @param what `restore` delivers what was `held`, as after a short outage, or resets the connections when it was `lost`
   */
  silence(what: 'held' | 'lost', way: 'both' | 'replies'): void
  /** Each packet takes this long, give or take a half; in one of a hundred the connection is reset. */
  slow(delayMs: number, random: Random): void
  /** As on the first day. */
  restore(): Promise<void>
}

type Condition =
  | { readonly kind: 'sound' | 'cut' }
  | { readonly kind: 'silent'; readonly what: 'held' | 'lost'; readonly way: 'both' | 'replies' }
  | { readonly kind: 'slow'; readonly delayMs: number; readonly random: Random }

const resetShare = 0.01

/** @param stack closes it */
export async function createLink(stack: AsyncDisposableStack, name: string): Promise<Link> {
  let targets: readonly number[] = []
  let turn = 0
  let condition: Condition = { kind: 'sound' }
  const now = () => condition
  const pairs = new Set<{ reset(): void; changed(): void }>()

  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => {})
    if (condition.kind === 'cut') return void client.resetAndDestroy()
    turn++
    void connectToOne(targets.map((_, index) => targets[(index + turn) % targets.length] ?? 0)).then((target) => {
      const reset = () => {
        client.resetAndDestroy()
        target?.resetAndDestroy()
      }
      // The link may have been cut meanwhile, which waits until all connections have ended.
      if (target === undefined || now().kind === 'cut') return reset()
      const flows = [forward(client, target, 'requests', now), forward(target, client, 'replies', now)]
      const pair = { reset, changed: () => flows.forEach((flow) => void flow()) }
      pairs.add(pair)
      for (const socket of [client, target])
        socket
          .on('error', () => {})
          .on('close', () => {
            pairs.delete(pair)
            client.destroy()
            target.destroy()
          })
    })
  })

  function change(next: Condition): void {
    const wasLost = condition.kind === 'silent' && condition.what === 'lost'
    condition = next
    for (const pair of pairs) {
      if (next.kind === 'cut' || wasLost) pair.reset()
      else pair.changed()
    }
  }

  async function listen(port: number): Promise<void> {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }

  // Not one that the system picks: it could pick it again while the link is cut.
  const port = await freePort()
  await listen(port)
  stack.defer(async () => {
    for (const pair of pairs) pair.reset()
    if (server.listening) server.close()
  })
  return {
    name,
    port,
    forwardTo(...ports) {
      targets = ports
    },
    async cut() {
      const closed = once(server, 'close')
      server.close()
      change({ kind: 'cut' })
      await closed
    },
    silence: (what, way) => change({ kind: 'silent', what, way }),
    slow: (delayMs, random) => change({ kind: 'slow', delayMs, random }),
    async restore() {
      change({ kind: 'sound' })
      if (!server.listening) await listen(port)
    },
  }
}

/** @returns sends what may be sent now; to be called after each change of the condition */
function forward(from: Socket, into: Socket, way: 'requests' | 'replies', conditionNow: () => Condition): () => void {
  const waiting: { readonly dueAt: number; readonly chunk: Buffer | undefined }[] = []
  let timer: NodeJS.Timeout | undefined
  const isHeld = () => {
    const condition = conditionNow()
    return condition.kind === 'silent' && (condition.way === 'both' || way === 'replies')
  }
  function send(): void {
    clearTimeout(timer)
    for (let next = waiting[0]; next !== undefined && !isHeld(); next = waiting[0]) {
      const left = next.dueAt - performance.now()
      if (left > 0) {
        timer = setTimeout(send, left)
        return
      }
      waiting.shift()
      if (next.chunk === undefined) into.end()
      else into.write(next.chunk)
    }
  }
  function add(chunk: Buffer | undefined): void {
    let delayMs = 0
    const condition = conditionNow()
    if (condition.kind === 'slow') {
      if (condition.random.isIn(resetShare)) return void from.resetAndDestroy()
      delayMs = condition.delayMs * (0.5 + condition.random.next())
    }
    waiting.push({ chunk, dueAt: Math.max(performance.now() + delayMs, waiting.at(-1)?.dueAt ?? 0) })
    send()
  }
  from.on('data', add).on('end', () => add(undefined))
  return send
}

async function connectToOne(ports: readonly number[]): Promise<Socket | undefined> {
  for (const port of ports) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    if (isOpen) return socket
  }
  return undefined
}
