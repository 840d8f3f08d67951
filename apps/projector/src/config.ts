// The variables of the projector.
import { port, text, url } from '@paylog/config/kinds'
import { Type } from 'typebox'

export const ProjectorConfig = Type.Object({
  HOST: text('127.0.0.1'),
  HEALTH_PORT: Type.Optional(port()),
  DATABASE_URL: url(['postgres', 'postgresql']),
  EVENTSTORE_URL: url(['esdb', 'esdb+discover']),
})
