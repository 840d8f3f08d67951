// The process of the projector.
import { runApp } from '@paylog/runtime/process/lifecycle'
import { startProjector } from './projector.ts'

runApp({ app: 'projector', portVariable: 'HEALTH_PORT' }, startProjector)
