// The choices of a model that are made here: of config.json, "model".

// Field -> its values, the usual one first: what transformer/config.py has where nothing is said.
// `READ` of viz/live/models.py is the same.
export const READ = {
  family: ["encoder_decoder", "decoder_only", "encoder_classifier"],
  source_vocab_size: [null],
  norm_order: ["post", "pre"],
  norm: ["layer"],
  embedding_norm: [false],
  encoder_norm: [null],
  decoder_norm: [null],
  decoder_feed_norm: [true],
  activation: ["relu", "gelu"],
  d_key: [null],
  d_value: [null],
  projections: [true],
  attention_scale: ["sqrt"],
  attention_bias: ["all"],
  positions: ["sinusoidal", "learned"],
  source_positions: [false],
  sinusoids: ["interleaved"],
  tied: ["all"],
  output_bias: [false],
  scaled_embeddings: [true, false],
  pooling: ["mean", "max"],
};
const SIZES = { norm_eps: 1e-5, classes: [], pad_id: 0, bos_id: 1, eos_id: 2 };

// family -> the kinds of attention that it has, with the field that counts their layers.
const KINDS = {
  encoder_decoder: {
    encoder_self: "n_encoder_layers",
    decoder_self: "n_decoder_layers",
    cross: "n_decoder_layers",
  },
  decoder_only: { decoder_self: "n_decoder_layers" },
  encoder_classifier: { encoder_self: "n_encoder_layers" },
};

// The whole configuration. Throws, in one sentence, for a model that is not read here.
export function readConfig(given) {
  const usual = Object.entries(READ).map(([name, [first]]) => [name, first]);
  const config = { ...Object.fromEntries(usual), ...SIZES, ...given };
  for (const [name, values] of Object.entries(READ)) {
    if (values.includes(config[name])) continue;
    const own = JSON.stringify(config[name]);
    throw new Error(`Without a server no model with ${name} ${own} is read: open it in the app.`);
  }
  const { d_model, d_ff, n_heads } = config;
  if (d_model % (16 * n_heads) || d_ff % 4) {
    const those = "heads of a multiple of 16 dimensions, and of 4 in d_ff";
    throw new Error(`Without a server a model needs ${those}: open it in the app.`);
  }
  return config;
}

// Kind of attention -> its layers.
export function layersOf(config) {
  const counted = Object.entries(KINDS[config.family]).map(([kind, name]) => [kind, config[name]]);
  return Object.fromEntries(counted);
}

// The name of what is read, as changes are of it: a model of one side has a text.
export const sideRead = ({ family }) => (family === "encoder_decoder" ? "source" : "text");
