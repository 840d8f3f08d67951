// Checks and writes events as it was done before personal data was sealed. Both codecs read both.
import { jsonEvent } from '@eventstore/db-client'
import { recordedEvents, upcasters } from '@paylog/domain/recordedEvents'
import { type Codec, domainCodec } from '@paylog/event-store/codec/codec'
import { createStoredShapes } from '@paylog/event-store/codec/shapes'

const shapes = createStoredShapes({ current: recordedEvents, former: upcasters })

export const openCodec: Codec = {
  ...domainCodec,
  partsOf: () => [],
  encode({ type, data }, id, { correlationId, causationId, ...rest }) {
    const shape = shapes.newest(type)
    const problem = shape?.problemOf(data)
    if (shape === undefined || problem) throw new Error(`${type} cannot be recorded: ${problem}`)
    const metadata = { $correlationId: correlationId, $causationId: causationId, ...rest, schema: shape.version }
    return jsonEvent({ id, type: shape.storedType, data, metadata })
  },
}
