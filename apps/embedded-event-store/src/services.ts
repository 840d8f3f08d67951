// The gRPC service definitions of this server.
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import serverFeaturesGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js'
import { isWellFormed, type Shape, shapes } from './protocol/wellFormed.ts'

const { read, append, batchAppend, delete: remove, tombstone } = streamsGrpc.StreamsService

export const streamsService: ServiceDefinition = {
  // Read responses are already encoded.
  read: { ...checked(read, shapes.read), responseSerialize: (message: Buffer) => message },
  append: checked(append, shapes.append),
  batchAppend: checked(batchAppend, shapes.batchAppend),
  delete: checked(remove, shapes.delete),
  tombstone: checked(tombstone, shapes.tombstone),
}

export const serverFeaturesService: ServiceDefinition = {
  getSupportedMethods: checked(serverFeaturesGrpc.ServerFeaturesService.getSupportedMethods, shapes.empty),
}

export const gossipService: ServiceDefinition = {
  read: checked(gossipGrpc.GossipService.read, shapes.empty),
}

/** Malformed messages end the call with INTERNAL, whether detected here or by the protobuf library. */
function checked<Request, Response>(
  method: MethodDefinition<Request, Response>,
  shape: Shape,
): MethodDefinition<Request, Response> {
  return {
    ...method,
    requestDeserialize(bytes) {
      if (!isWellFormed(bytes, shape)) throw new Error('The message is malformed')
      return method.requestDeserialize(bytes)
    },
  }
}
