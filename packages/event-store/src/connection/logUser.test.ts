// Creation of the apps' user on a fake EventStoreDB that uses TLS with the certificate of deploy/makeSecrets.sh.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, { type AppendReq, type AppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import usersGrpc from '@eventstore/db-client/generated/users_grpc_pb.js'
import users, {
  type CreateReq,
  type CreateResp,
  type ResetPasswordReq,
  type ResetPasswordResp,
} from '@eventstore/db-client/generated/users_pb.js'
import {
  Server,
  ServerCredentials,
  type ServerReadableStream,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { grpcError } from '../testing/fakeEventStore.ts'
import { allowLogUser } from './logUser.ts'

/** Records requests. It rejects the first one with UNAUTHENTICATED, like a server that has just started. */
async function startFakeEventStoreDb(t: Test, secrets: string) {
  const requests: string[] = []
  const known = new Map<string, string>()
  let calls = 0
  const read = (name: string) => readFileSync(join(secrets, name))
  const pair = { private_key: read('eventstore_key'), cert_chain: read('eventstore_certificate') }
  const server = new Server()
  server.addService(usersGrpc.UsersService, {
    create({ request, metadata }: ServerUnaryCall<CreateReq, CreateResp>, respond: sendUnaryData<CreateResp>) {
      if (calls++ === 0) return respond(grpcError(status.UNAUTHENTICATED))
      requests.push(String(metadata.get('authorization')[0]))
      const options = request.getOptions()
      const name = options?.getLoginName() ?? ''
      if (known.has(name))
        return respond(grpcError(status.FAILED_PRECONDITION, { exception: 'user-conflict', 'login-name': name }))
      t.same(options?.getGroupsList(), [], 'not an administrator')
      known.set(name, options?.getPassword() ?? '')
      respond(null, new users.CreateResp())
    },
    resetPassword({ request }: ServerUnaryCall<ResetPasswordReq, unknown>, respond: sendUnaryData<ResetPasswordResp>) {
      known.set(request.getOptions()?.getLoginName() ?? '', request.getOptions()?.getNewPassword() ?? '')
      respond(null, new users.ResetPasswordResp())
    },
  })
  server.addService(streamsGrpc.StreamsService, {
    append(call: ServerReadableStream<AppendReq, AppendResp>, respond: sendUnaryData<AppendResp>) {
      call.on('data', (request: AppendReq) => {
        const stream = request.getOptions()?.getStreamIdentifier()?.getStreamName_asU8()
        const data = request.getProposedMessage()?.getData_asU8()
        for (const bytes of [stream, data]) if (bytes !== undefined) requests.push(Buffer.from(bytes).toString())
      })
      call.on('end', () =>
        respond(null, new streams.AppendResp().setSuccess(new streams.AppendResp.Success().setCurrentRevision('0'))),
      )
    },
  })
  const port = await new Promise<number>((resolve, reject) => {
    const credentials = ServerCredentials.createSsl(null, [pair])
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)))
  })
  t.teardown(() => server.forceShutdown())
  return { port, requests, known }
}

const hasOpenssl = spawnSync('openssl', ['version']).status === 0
const skip = !hasOpenssl && 'NOT TESTED: creating the certificate needs openssl'

t.test(
  'allowLogUser creates the user over TLS, resets its password and grants it read access to $all',
  { skip },
  async (t) => {
    const secrets = join(t.testdir({}), 'secrets')
    execFileSync(fileURLToPath(new URL('../../../../deploy/makeSecrets.sh', import.meta.url)), [secrets])
    const { port, requests, known } = await startFakeEventStoreDb(t, secrets)
    const here = (name: string) =>
      readFileSync(join(secrets, name), 'utf8')
        .replace('eventstore:2113', `localhost:${port}`)
        .replace('/run/secrets/', encodeURIComponent(`${secrets}/`))
    const adminUrl = here('eventstore_admin_url')
    const userUrl = here('eventstore_url')
    const password = readFileSync(join(secrets, 'eventstore_password'), 'utf8')
    t.equal(await allowLogUser({ adminUrl, userUrl, retryTimeoutMs: 10_000 }), 'paylog')
    t.same([...known], [['paylog', password]])
    const admin = `admin:${readFileSync(join(secrets, 'eventstore_admin_password'), 'utf8')}`
    const acl = JSON.stringify({ $acl: { $r: ['$admins', 'paylog'] } })
    t.same(requests, [`Basic ${Buffer.from(admin).toString('base64')}`, '$$$all', acl])
    await allowLogUser({ adminUrl, userUrl: userUrl.replace(password, 'another'), retryTimeoutMs: 10_000 })
    t.same([...known], [['paylog', 'another']], 'the second call resets the password')
    const untrusted = allowLogUser({ adminUrl: adminUrl.replace(/\?.*/, ''), userUrl, retryTimeoutMs: 0 })
    await t.rejects(
      untrusted,
      { message: /self-signed certificate|unable to (get|verify)/ },
      'the certificate is checked',
    )
  },
)
