// command-api with events that are not sealed.
import { domainCodec } from '@paylog/event-store/codec/codec'
import { openCodec } from './openCodec.ts'

Object.assign(domainCodec, openCodec)
await import('../../../apps/command-api/src/main.ts')
