// Discovery calls of clients: supported methods, and gossip for a cluster of one.
import { randomUUID } from 'node:crypto'
import gossip, { type ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import serverFeatures, { type SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared, { type Empty } from '@eventstore/db-client/generated/shared_pb.js'
import type { handleUnaryCall } from '@grpc/grpc-js'
import { ticksNow } from './storage/storedEvent.ts'

const streamsService = 'event_store.client.streams.streams'
const streamsMethods = ['read', 'append', 'delete', 'tombstone', 'batchappend']
/** The EventStoreDB version whose behaviour this server follows. */
const serverVersion = '24.6.0'

export function createGetSupportedMethods(): handleUnaryCall<Empty, SupportedMethods> {
  const methods = streamsMethods.map((name) => {
    const method = new serverFeatures.SupportedMethod()
    method.setServiceName(streamsService)
    method.setMethodName(name)
    if (name === 'read') method.setFeaturesList(['position', 'events'])
    return method
  })
  return (_call, callback) => {
    const response = new serverFeatures.SupportedMethods()
    response.setMethodsList(methods)
    response.setEventStoreServerVersion(serverVersion)
    callback(null, response)
  }
}

/** Returns one member, the leader, with the address of this server. */
export function createGossip(address: { readonly host: string; readonly port: () => number }) {
  const instanceId = randomUUID()
  const read: handleUnaryCall<Empty, ClusterInfo> = (_call, callback) => {
    const id = new shared.UUID()
    id.setString(instanceId)
    const endPoint = new gossip.EndPoint()
    endPoint.setAddress(address.host)
    endPoint.setPort(address.port())
    const member = new gossip.MemberInfo()
    member.setInstanceId(id)
    member.setTimeStamp(String(ticksNow()))
    member.setState(gossip.MemberInfo.VNodeState.LEADER)
    member.setIsAlive(true)
    member.setHttpEndPoint(endPoint)
    const cluster = new gossip.ClusterInfo()
    cluster.addMembers(member)
    callback(null, cluster)
  }
  return read
}
