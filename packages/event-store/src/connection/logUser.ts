// Creates the EventStoreDB user of the apps: not an administrator, but allowed to read the whole log.
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventStoreDBClient } from '@eventstore/db-client'
import usersGrpc, { type UsersClient } from '@eventstore/db-client/generated/users_grpc_pb.js'
import users from '@eventstore/db-client/generated/users_pb.js'
import { type CallOptions, Metadata } from '@grpc/grpc-js'
import { clientMethod } from './client.ts'
import { createConnections } from './connection.ts'
import { type Credentials, parseConnectionString } from './connectionString.ts'

const pauseMs = 1_000

/**
 * Creates the user, or resets its password, and grants it read access to `$all`, which by default only administrators have.
 * @param options both URLs are connection strings with credentials. Failures are retried for `retryTimeoutMs`, because a
 *   server that has just started has no users yet
 * @throws Error the last failure
 */
export async function allowLogUser(options: {
  readonly adminUrl: string
  readonly userUrl: string
  readonly retryTimeoutMs: number
}): Promise<string> {
  const { credentials } = parseConnectionString(options.userUrl)
  if (credentials === undefined) throw new Error("The user's connection string has no credentials")
  const closed = new AbortController()
  const { replaceable } = createConnections({ connectionString: options.adminUrl, closing: closed.signal })
  const connection = replaceable(pauseMs)
  const giveUpAt = performance.now() + options.retryTimeoutMs
  try {
    for (;;) {
      try {
        const { client } = await connection.current(options.retryTimeoutMs)
        await createUser(client, credentials)
        await client.setStreamMetadata('$all', { acl: { readRoles: ['$admins', credentials.user] } })
        return credentials.user
      } catch (error) {
        if (performance.now() + pauseMs > giveUpAt) throw error
        connection.suspect()
        await sleep(pauseMs)
      }
    }
  } finally {
    closed.abort(new Error('The command has ended'))
    await connection.close()
  }
}

async function createUser(client: EventStoreDBClient, { user, password }: Credentials): Promise<void> {
  const creation = new users.CreateReq.Options().setLoginName(user).setFullName(user).setPassword(password)
  const reset = new users.ResetPasswordReq.Options().setLoginName(user).setNewPassword(password)
  try {
    await call(client, (stub, ...rest) => stub.create(new users.CreateReq().setOptions(creation), ...rest))
  } catch (error) {
    const trailers = error instanceof Error && 'metadata' in error ? error.metadata : undefined
    if (!(trailers instanceof Metadata) || trailers.get('exception')[0] !== 'user-conflict') throw error
    await call(client, (stub, ...rest) => stub.resetPassword(new users.ResetPasswordReq().setOptions(reset), ...rest))
  }
}

type Rest = [metadata: Metadata, options: CallOptions, callback: (error: Error | null) => void]

/** Makes a call of the users service, for which the client has no methods. */
async function call(client: EventStoreDBClient, begin: (stub: UsersClient, ...rest: Rest) => unknown): Promise<void> {
  await clientMethod(client, 'execute')(usersGrpc.UsersClient, 'users', async (stub: UsersClient) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const [metadata, options] = clientMethod(client, 'callArguments')({})
    begin(stub, metadata, options, (error) => (error ? reject(error) : resolve()))
    await promise
  })
}
