// The process of the projector. When its last projection has stopped, it ends.
import { runApp } from '@paylog/runtime/process/lifecycle'
import { startProjector } from './projector.ts'

runApp({ app: 'projector', portVariable: 'HEALTH_PORT' }, ({ log, lifecycle }) =>
  startProjector({ log, lifecycle, onStopped: lifecycle.fail }),
)
