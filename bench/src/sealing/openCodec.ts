// Writes events as they were before personal data was sealed. Both codecs read both.
import { jsonEvent } from '@eventstore/db-client'
import { type Codec, domainCodec } from '@paylog/event-store/codec/codec'

export const openCodec: Codec = {
  ...domainCodec,
  partsOf: () => [],
  encode: ({ type, data }, id, { correlationId, causationId, ...rest }) =>
    jsonEvent({
      id,
      type,
      data,
      metadata: { $correlationId: correlationId, $causationId: causationId, ...rest, schema: 1 },
    }),
}
