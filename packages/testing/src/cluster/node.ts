// A stand-in for one node of an EventStoreDB cluster: a process in front of a log that all nodes share.
//
//   node packages/testing/src/cluster/node.ts --port 2111 --peers 2112,2113 --log 127.0.0.1:2110
//
// Nodes listen on 127.0.0.1. `--log` is one event store, usually the embedded one. The nodes elect a leader by themselves:
// --poll-ms 200 (they ask each other), --silence-ms 3000 (without an answer, a peer is dead; a killed one is at once),
// --election-ms 1000 (from the loss of a leader to the election), --step-down-ms 4000 (a leader without a majority),
// --shutdown-ms 1000 (on SIGTERM, the node refuses new connections, keeps its role and its open calls, and ends after this;
// KurrentDB takes 6 to 9 s). It prints one line for each change of its role. SIGKILL, SIGSTOP and SIGCONT work as on a
// real node.

import { parseArgs } from 'node:util'
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossip, { type ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import operationsGrpc from '@eventstore/db-client/generated/operations_grpc_pb.js'
import serverFeaturesGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import {
  Client,
  credentials,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import { asIs, type Call, handleCall, type Standing } from './calls.ts'
import {
  createElection,
  type Election,
  isLeader,
  leaderHasMajority,
  type Member,
  members,
  observe,
  observeRefusal,
  resign,
  tick,
  type View,
  viewOf,
} from './election.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    peers: { type: 'string' },
    log: { type: 'string' },
    'poll-ms': { type: 'string', default: '200' },
    'silence-ms': { type: 'string', default: '3000' },
    'election-ms': { type: 'string', default: '1000' },
    'step-down-ms': { type: 'string', default: '4000' },
    'shutdown-ms': { type: 'string', default: '1000' },
  },
})
if (values.port === undefined || values.peers === undefined || values.log === undefined)
  throw new Error('node.ts needs --port, --peers and --log')
const pollMs = Number(values['poll-ms'])
const shutdownMs = Number(values['shutdown-ms'])
const cancelledCallsPerSecond = 100_000
const exchangePath = '/paylog.testing.Cluster/Exchange'
/** As large as the log allows, and a lost connection is tried again at once. */
const channel = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.initial_reconnect_backoff_ms': pollMs / 2,
  'grpc.min_reconnect_backoff_ms': pollMs / 2,
  'grpc.max_reconnect_backoff_ms': pollMs,
}
const connect = (address: string) => new Client(address, credentials.createInsecure(), channel)

const election = createElection(Number(values.port), values.peers.split(',').map(Number), {
  pollMs,
  silenceMs: Number(values['silence-ms']),
  electionMs: Number(values['election-ms']),
  stepDownMs: Number(values['step-down-ms']),
})
const log = connect(values.log)
let reported = ''

function standing(): Standing {
  const { leader } = election.own
  const hasMajority = leaderHasMajority(election)
  if (leader === null) return { leader: undefined, hasMajority }
  return { leader: isLeader(election) ? 'itself' : { port: leader }, hasMajority }
}

/** Every change of the election goes through this. */
function change(step: (election: Election) => void): void {
  const before = election.own
  step(election)
  if (election.own === before) return
  const now = `${election.own.port}: term ${election.own.term}, leader ${election.own.leader ?? 'unknown'}`
  if (now !== reported) process.stdout.write(`${now}\n`)
  reported = now
  // Peers need the news sooner than the next poll.
  if (election.own.leader !== before.leader || election.own.vote !== before.vote) exchangeWithAll()
}

const peers = election.peers.map(({ port }) => ({ port, client: connect(`127.0.0.1:${port}`), isAsked: false }))

function exchangeWithAll(): void {
  for (const peer of peers) {
    if (peer.isAsked) continue
    peer.isAsked = true
    const askedAt = performance.now()
    const answered = (error: ServiceError | null, view?: View) => {
      peer.isAsked = false
      if (view !== undefined) change((election) => observe(election, view, askedAt))
      else if (error?.code === status.UNAVAILABLE) change((election) => observeRefusal(election, peer.port))
    }
    const options = { deadline: Date.now() + election.timing.silenceMs }
    peer.client.makeUnaryRequest(exchangePath, encode, decode, viewOf(election), options, answered)
  }
}

const encode = (view: View) => Buffer.from(JSON.stringify(view))
const decode = (bytes: Buffer): View => JSON.parse(bytes.toString())

const exchange: handleUnaryCall<View, View> = ({ request }, callback) => {
  change((election) => observe(election, request))
  callback(null, viewOf(election))
}

const { FOLLOWER, INITIALIZING, LEADER, UNKNOWN } = gossip.MemberInfo.VNodeState
const ticksPerMs = 10_000n

function memberInfo({ port, view, isAlive }: Member) {
  const id = new shared.UUID()
  id.setString(view?.instanceId ?? '00000000-0000-0000-0000-000000000000')
  const endPoint = new gossip.EndPoint()
  endPoint.setAddress('127.0.0.1')
  endPoint.setPort(port)
  const member = new gossip.MemberInfo()
  member.setInstanceId(id)
  member.setTimeStamp(String(BigInt(Date.now()) * ticksPerMs))
  member.setState(view === undefined ? INITIALIZING : stateOf(view))
  member.setIsAlive(isAlive)
  member.setHttpEndPoint(endPoint)
  return member
}

function stateOf({ port, leader }: View) {
  if (leader === null) return UNKNOWN
  return leader === port ? LEADER : FOLLOWER
}

function clusterInfo(): ClusterInfo {
  const cluster = new gossip.ClusterInfo()
  cluster.setMembersList(members(election).map(memberInfo))
  return cluster
}

const openCalls = new Set<Call>()

function handle(call: Call): void {
  openCalls.add(call)
  call.once('close', () => openCalls.delete(call))
  handleCall(log, standing, call)
}

const server = new Server(channel)
// The log tolerates as many: without it, Node's HTTP/2 closes a connection after 1,000 cancelled streams.
Object.assign(Reflect.get(server, 'commonServerOptions'), {
  streamResetBurst: cancelledCallsPerSecond,
  streamResetRate: cancelledCallsPerSecond,
})
for (const { path } of [
  ...Object.values(streamsGrpc.StreamsService),
  ...Object.values(serverFeaturesGrpc.ServerFeaturesService),
])
  server.register(path, handle, asIs, asIs, 'bidi')
server.register(exchangePath, exchange, encode, decode, 'unary')
server.addService(gossipGrpc.GossipService, {
  read: ((_call, callback) => callback(null, clusterInfo())) satisfies handleUnaryCall<shared.Empty, ClusterInfo>,
})
const { resignNode } = operationsGrpc.OperationsService
server.addService(
  { resignNode },
  {
    resignNode: ((_call, callback) => {
      change(resign)
      callback(null, new shared.Empty())
    }) satisfies handleUnaryCall<shared.Empty, shared.Empty>,
  },
)
server.bindAsync(`127.0.0.1:${values.port}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error
  setInterval(() => {
    change(tick)
    exchangeWithAll()
  }, pollMs)
  exchangeWithAll()
  process.send?.({ type: 'ready' })
})
process.on('SIGTERM', () => {
  server.tryShutdown(() => {})
  setTimeout(() => {
    // KurrentDB resets its open calls with code 0, which clients report as INTERNAL.
    for (const call of openCalls) Reflect.get(Reflect.get(call, 'call'), 'stream').close()
    setTimeout(() => process.exit(0), pollMs)
  }, shutdownMs)
})
// A supervised process must not outlive its parent.
process.on('disconnect', () => process.exit(0))
