// A TCP proxy between the server and its database that detects commits, so that a test can kill at that moment.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/**
 * The stage of a commit at which the test acts: before it is sent to the database, just sent, done without a response to the
 * server, or done and acknowledged.
 */
export type CommitStage = 'unsent' | 'sent' | 'done' | 'acknowledged'

export type DatabaseProxy = {
  /** The URL of the database through the proxy. */
  readonly databaseUrl: string
  /** Calls back once at this stage of the next commit. */
  atNextCommit(stage: CommitStage, act: () => void): void
}

/** The name of the prepared statement that commits a group. */
const commitStatement = 'insert_events'

export async function startDatabaseProxy(t: Test, databaseUrl: string): Promise<DatabaseProxy> {
  const url = new URL(databaseUrl)
  const target = { host: url.hostname, port: Number(url.port) }
  const sockets = new Set<Socket>()
  let armed: { readonly stage: CommitStage; readonly act: () => void } | undefined

  const trigger = () => {
    const { act } = armed ?? {}
    armed = undefined
    act?.()
  }
  const server = createServer((node) => {
    const database = connect(target)
    let committing = false
    let isHeldBack = false
    for (const socket of [node, database]) {
      sockets.add(socket)
      // What a killed server had sent still reaches the database, as from the kernel's buffers.
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket)
          node.destroy()
          database.end()
        })
    }
    node.on('data', (chunk: Buffer) => {
      const isCommit = armed !== undefined && chunk.includes(commitStatement)
      if (isCommit) committing = true
      if (isCommit && armed?.stage === 'unsent') isHeldBack = true
      if (!isHeldBack) database.write(chunk)
      if (isCommit && (isHeldBack || armed?.stage === 'sent')) trigger()
    })
    node.on('end', () => database.end())
    database.on('data', (chunk: Buffer) => {
      if (committing && armed?.stage === 'done') return trigger()
      node.write(chunk)
      if (committing && armed?.stage === 'acknowledged') trigger()
    })
    database.on('end', () => node.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const proxied = new URL(databaseUrl)
  proxied.hostname = '127.0.0.1'
  proxied.port = String((server.address() as AddressInfo).port)
  return {
    databaseUrl: proxied.href,
    atNextCommit(stage, act) {
      armed = { stage, act }
    },
  }
}
