/**
 * What a client is told about itself and about how to behave.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as Implementation from "@mcpfx/schema/Implementation"
import type { Version } from "@mcpfx/schema/Revision"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Pages from "./Pages.ts"
import type { Options as TaskOptions } from "./Tasks.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface ClientOptions {
  /** How the client calls itself; `mcpfx-client` by default. */
  readonly info?: Implementation.Implementation | undefined
  /**
   * The revisions it may speak, all five by default. With stateful ones alone the server is not probed; with 2026-07-28
   * alone nothing else is tried.
   */
  readonly revisions?: ReadonlyArray<Version> | undefined
  /**
   * Extra capabilities to declare: `experimental` and `extensions`. What has a handler declares itself; elicitation, sampling
   * and roots are never declared without one.
   */
  readonly capabilities?: Capabilities.Client | undefined
  /** How long connecting may take, probe and handshake included; 30 seconds by default. */
  readonly connectTimeout?: Duration.Input | undefined
  /**
   * How long a server without HTTP may be silent on the probe before it counts as a stateful one; 5 seconds by default.
   * Some old servers never answer what they do not know.
   */
  readonly probeTimeout?: Duration.Input | undefined
  /** How long a request may take, moved by progress; 60 seconds by default. */
  readonly timeout?: Duration.Input | undefined
  /** How far progress may move that deadline; 10 minutes by default. */
  readonly maxTimeout?: Duration.Input | undefined
  /**
   * How often a request may come back with something to answer on 2026-07-28; 10 by default. Past it, `TooManyRounds`. An
   * answered round moves the deadline as progress does; `maxTimeout` is for all rounds together, and the time people take.
   */
  readonly maxRounds?: number | undefined
  /** How many things one round may ask for; 100 by default. */
  readonly maxAsks?: number | undefined
  /** How many of them are answered at the same time; 8 by default. */
  readonly concurrentAsks?: number | undefined
  /**
   * What to do when a server of 2025-11-25 refuses a request until the user has visited pages: with this, they are shown by
   * the handler of `ClientElicitation.layerUrl`, and the request is sent again once the server says that the user is done,
   * which may take this long. Without it, the request fails with `UrlElicitationRequired` (ELI-18).
   */
  readonly awaitUrls?: Duration.Input | undefined
  /** Bounds on lists of many pages: 100 pages and 10,000 items by default. */
  readonly pages?: Partial<Pages.Bounds> | undefined
  /** Checks structured output against the schema its tool is listed with; on by default (TOL-08). */
  readonly checkOutput?: boolean | undefined
  /** How many answers of each method are kept for reuse on 2026-07-28; 1,000 by default, 0 for none. */
  readonly cacheCapacity?: number | undefined
  /**
   * On whose behalf a request is sent, where that differs from call to call, as with headers that are an effect: private
   * answers are kept apart by it (CCH-05). One caller by default.
   */
  readonly caller?: Effect.Effect<string> | undefined
  /**
   * Connects anew when a request finds the connection gone. On by default over HTTP; a process is started again only
   * where this says so. Attempts are spaced from 100 ms, doubling, up to 5.
   */
  readonly reconnect?: boolean | undefined
  /**
   * How often to ask the server for a sign of life, and how long to wait for it (PNG-02). Without one the connection counts
   * as lost. Never by default.
   */
  readonly heartbeat?: Duration.Input | undefined
  /**
   * Tasks: what `true`, or options, announce on 2026-07-28, so that servers may answer calls with tasks (EXT-06). Without them,
   * calls there are never tasks. Calls as tasks on 2025-11-25 need nothing.
   */
  readonly tasks?: boolean | TaskOptions | undefined
  /** Opens the connection on first use instead of while the layer is built. */
  readonly lazy?: boolean | undefined
}
